package storage_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"sync"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// promise is an acknowledged record.
type promise struct {
	value string
	epoch storage.Epoch
}

var errContradiction = errors.New("it contradicts an earlier promise")

// lastBatch is the newest acknowledged batch of an idempotent producer.
type lastBatch struct {
	sequence int32
	n        int
	offset   int64
}

// ledger is what clients were promised by all owners of one partition, and what they asked for.
type ledger struct {
	mu        sync.Mutex
	promised  map[int64]promise
	firm      map[int64]promise         // of these, what was synced in a page-cache topic
	asked     map[int64]map[string]bool // values that somebody tried to write at an offset
	start     int64                     // log start that was acknowledged
	startAsk  int64                     // largest log start that was asked for, or that retention may have chosen
	producers map[int64]lastBatch
	shown     storage.Offsets // what the last leader showed, as far as it is firm
	exists    bool            // the partition was acknowledged to exist
	deleting  bool            // its deletion has begun

	transactions promisedTransactions

	gone  map[int64]bool  // offsets that somebody has seen to be gone; nil for a log that is not compacted
	mayGo map[string]bool // values of transactions that somebody asked to abort, and of markers
}

func newLedger() *ledger {
	return &ledger{
		promised: map[int64]promise{}, firm: map[int64]promise{}, asked: map[int64]map[string]bool{}, producers: map[int64]lastBatch{},
		transactions: newPromisedTransactions(),
	}
}

func (l *ledger) clone() *ledger {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := newLedger()
	c.promised, c.firm, c.producers = maps.Clone(l.promised), maps.Clone(l.firm), maps.Clone(l.producers)
	for offset, values := range l.asked {
		c.asked[offset] = maps.Clone(values)
	}
	c.transactions = l.transactions.clone()
	c.start, c.startAsk, c.exists, c.deleting = l.start, l.startAsk, l.exists, l.deleting
	c.gone, c.mayGo = maps.Clone(l.gone), maps.Clone(l.mayGo)
	return c
}

// valuesOf lists the values of a batch's records.
func valuesOf(b batch.Batch) ([]string, error) {
	var values []string
	for record, err := range b.Records(nil, batch.SiteTool, 1<<30) {
		if err != nil {
			return nil, err
		}
		values = append(values, string(record.Value))
	}
	return values, nil
}

// ask appends and notes what was asked for. The ticket says where it went.
func (l *ledger) ask(p *storage.Partition, b batch.Batch) (storage.Ticket, error) {
	return l.askWith(p, b, storage.AppendOptions{})
}

func (l *ledger) askWith(p *storage.Partition, b batch.Batch, o storage.AppendOptions) (storage.Ticket, error) {
	values, err := valuesOf(b)
	if err != nil {
		return storage.Ticket{}, err
	}
	l.mu.Lock() // held across Append, which does no file call, so that a power cut right behind it finds the question noted
	defer l.mu.Unlock()
	ticket, err := p.Append(b, o)
	if err != nil || ticket.Result().Duplicate {
		return ticket, err
	}
	for i, value := range values {
		offset := ticket.Result().BaseOffset + int64(i)
		if l.asked[offset] == nil {
			l.asked[offset] = map[string]bool{}
		}
		l.asked[offset][value] = true
	}
	return ticket, nil
}

// promise notes an acknowledgement. It reports a promise that contradicts an earlier one.
func (l *ledger) promise(r storage.AppendResult, b batch.Batch, epoch storage.Epoch) error {
	values, err := valuesOf(b)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, value := range values {
		offset := r.BaseOffset + int64(i)
		if old, known := l.promised[offset]; known && old.value != value {
			return fmt.Errorf("offset %d was promised to hold %s, now %s: %w", offset, old.value, value, errContradiction)
		}
		l.promised[offset] = promise{value, epoch}
	}
	if id := b.ProducerID(); id >= 0 {
		l.producers[id] = lastBatch{b.BaseSequence(), len(values), r.BaseOffset}
	}
	return nil
}

// write appends, waits, and notes the acknowledgement.
func (l *ledger) write(p *storage.Partition, b batch.Batch) error {
	ticket, err := l.ask(p, b)
	if err != nil {
		return err
	}
	if err := ticket.WaitDurable(context.Background()); err != nil {
		return err
	}
	return l.promise(ticket.Result(), b, p.Epoch())
}

func (l *ledger) deleteRecords(p *storage.Partition, offset int64) error {
	l.mu.Lock()
	l.startAsk = max(l.startAsk, offset)
	l.mu.Unlock()
	start, err := p.DeleteRecords(context.Background(), offset)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.start = max(l.start, start)
	return nil
}

// verify opens the partition "p" of a file system as the next owner and compares it with the ledger, twice, because a takeover must not harm either.
// A partition that is being deleted, or was not acknowledged to exist, may be gone.
func (l *ledger) verify(filesystem vfs.FS, config storage.Config) error {
	engine, err := storage.NewEngine(storage.Options{RetentionInterval: -1, CompactionInterval: -1})
	if err != nil {
		return err
	}
	defer engine.Close()
	if err := inspectSound(filesystem); err != nil {
		return err
	}
	for round := range 2 {
		p, err := takeFrom(engine, filesystem, config)
		if err != nil {
			return l.mayBeGone(filesystem, err)
		}
		if err := l.check(p); err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
		if err := l.goOn(p); err != nil {
			return fmt.Errorf("round %d, next append: %w", round, err)
		}
		if round == 0 {
			err = l.compactAgain(p)
		}
		if err != nil {
			return fmt.Errorf("compaction: %w", err)
		}
		p.Abandon()
		<-p.Closed()
		if err := inspectSound(filesystem); err != nil {
			return fmt.Errorf("round %d, abandoned: %w", round, err)
		}
	}
	return nil
}

// inspectSound looks at the files, without a claim: what no fault has damaged, Verify calls sound.
func inspectSound(filesystem vfs.FS) error {
	dir, err := filesystem.OpenDir("p")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	inspection, err := storage.Inspect(dir)
	if errors.Is(err, storage.ErrNoManifest) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("inspect: %w", err)
	}
	var damage error
	err = inspection.Verify(func(found storage.Finding) {
		if found.Damage {
			damage = errors.Join(damage, fmt.Errorf("verify finds at byte %d of %s: %s", found.Offset, found.File, found.What))
		}
	})
	return errors.Join(err, damage)
}

func takeFrom(engine *storage.Engine, filesystem vfs.FS, config storage.Config) (*storage.Partition, error) {
	dir, err := filesystem.OpenDir("p")
	if err != nil {
		return nil, err
	}
	return engine.Take(context.Background(), dir, storage.TakeOptions{Label: "p", Config: config})
}

// mayBeGone judges an error of a takeover, and finishes what was begun.
func (l *ledger) mayBeGone(filesystem vfs.FS, err error) error {
	gone := errors.Is(err, fs.ErrNotExist) || errors.Is(err, storage.ErrNoManifest) || errors.Is(err, storage.ErrDeleted)
	switch {
	case !gone || l.exists && !l.deleting:
		return fmt.Errorf("takeover: %w", err)
	case !l.deleting:
		return create(filesystem)
	}
	root, err := filesystem.OpenDir(".")
	if err != nil {
		return err
	}
	defer root.Close()
	if err := storage.DestroyPartition(context.Background(), root, "p"); err != nil {
		return fmt.Errorf("finish deletion: %w", err)
	}
	if _, err := filesystem.OpenDir("p"); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("directory after deletion: %w", err)
	}
	return nil
}

func create(filesystem vfs.FS) error {
	if err := filesystem.MkdirAll("p"); err != nil {
		return err
	}
	dir, err := filesystem.OpenDir("p")
	if err != nil {
		return err
	}
	defer dir.Close()
	return storage.InitPartition(dir, 0)
}

func (l *ledger) check(p *storage.Partition) error {
	bounds := p.Offsets()
	if bounds.LogStart < l.start || bounds.LogStart > max(l.start, l.startAsk) {
		return fmt.Errorf("log start %d, acknowledged %d, asked for %d", bounds.LogStart, l.start, l.startAsk)
	}
	if bounds.LogStart < l.shown.LogStart || bounds.LastStable < l.shown.LastStable || bounds.HighWatermark < l.shown.HighWatermark {
		return fmt.Errorf("bounds go back from %+v to %+v", l.shown, bounds)
	}
	if l.gone != nil {
		if err := l.checkCompacted(p); err != nil {
			return err
		}
		return l.checkTransactions(p)
	}
	found, err := readLog(p)
	if err != nil {
		return err
	}
	for i, r := range found {
		if offset := bounds.LogStart + int64(i); !l.asked[offset][r.value] {
			return fmt.Errorf("offset %d holds %s, which nobody wrote there", offset, r.value)
		}
	}
	for _, offset := range slices.Sorted(maps.Keys(l.promised)) {
		if err := l.checkPromise(p, found, offset); err != nil {
			return err
		}
	}
	return l.checkTransactions(p)
}

func (l *ledger) checkPromise(p *storage.Partition, found []promise, offset int64) error {
	bounds, want := p.Offsets(), l.promised[offset]
	if offset < bounds.LogStart {
		return nil
	}
	if offset >= bounds.LogStart+int64(len(found)) {
		return fmt.Errorf("offset %d, acknowledged as %v, is lost: the log ends at %d", offset, want, bounds.LogEnd)
	}
	if got := found[offset-bounds.LogStart]; got != want {
		return fmt.Errorf("offset %d, acknowledged as %v, holds %v", offset, want, got)
	}
	if epoch := p.EpochForOffset(offset); epoch != want.epoch {
		return fmt.Errorf("offset %d of epoch %d is said to be of %d", offset, want.epoch, epoch)
	}
	if epoch, end := p.OffsetForLeaderEpoch(want.epoch); epoch != want.epoch || end <= offset {
		return fmt.Errorf("epoch %d is said to end at (%d, %d), but holds offset %d", want.epoch, epoch, end, offset)
	}
	return foundDirectly(p, offset)
}

// goOn appends, as the producers would: a retry of what was acknowledged is recognized, the next batch fits.
func (l *ledger) goOn(p *storage.Partition) error {
	for _, id := range slices.Sorted(maps.Keys(l.producers)) {
		last := l.producers[id]
		retry, err := buildSequenced(id, 0, last.sequence, last.n, "retry")
		if err != nil {
			return err
		}
		ticket, err := p.Append(retry, storage.AppendOptions{})
		if err != nil || !ticket.Result().Duplicate || ticket.Result().BaseOffset != last.offset {
			return fmt.Errorf("retry of producer %d's batch at %d: %+v, %w", id, last.offset, ticket.Result(), err)
		}
		next, err := buildSequenced(id, 0, last.sequence+int32(last.n), 1, "next")
		if err != nil {
			return err
		}
		if _, err := l.ask(p, next); err != nil && !errors.Is(err, storage.ErrOutOfOrderSequence) { // an unacknowledged batch may be there
			return err
		}
	}
	next, err := build("next", 1, 1)
	if l.gone != nil {
		next, err = buildKeyed("next", "k1")
	}
	if err != nil {
		return err
	}
	if err := l.write(p, next); err != nil {
		return err
	}
	return l.goOnInTransactions(p)
}
