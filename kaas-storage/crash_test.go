package storage_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// program is a run of the engine during which the power is cut at every mutating file call.
type program struct {
	name    string
	config  func(*storage.Config)
	options storage.Options
	// promises nothing about what is acknowledged: page-cache topics lose what was not synced.
	pageCache bool
	compacted bool
	run       func(w *crashWorld)
}

// crashWorld runs a program over a file system and cuts its power.
type crashWorld struct {
	t       *testing.T
	program program
	config  storage.Config
	disk    *vfs.Crash
	fs      vfs.FS
	engine  *storage.Engine
	p       *storage.Partition
	leading atomic.Pointer[storage.Partition] // p, for whoever makes a file call
	ledger  *ledger
	slow    []*storage.Section // held, so that deleted segments keep their logs, and nothing else
	seeds   int
	cutting atomic.Bool
	calls   int
	images  int
}

func TestPowerCuts(t *testing.T) {
	for _, program := range slices.Concat(programs, compactions) {
		t.Run(program.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &crashWorld{t: t, program: program, config: storage.DefaultConfig(), disk: vfs.NewCrash(64 << 20), ledger: newLedger(), seeds: 32}
				if testing.Short() {
					w.seeds = 4
				}
				if program.compacted {
					w.config.Compact, w.config.Delete, w.config.SegmentBytes = true, false, 200
					w.seeds /= 4
					w.ledger = newCompactedLedger()
				}
				if program.config != nil {
					program.config(&w.config)
				}
				w.start()
				program.run(w)
				w.cut("end")
				t.Logf("%d calls, %d power cuts", w.calls, w.images)
			})
		})
	}
}

func (w *crashWorld) start() {
	w.fs = vfs.NewFault(w.disk, func(op vfs.Op) error {
		if op.Kind.Mutating() && !w.t.Failed() {
			w.cut(op.String())
		}
		return nil
	})
	options := w.program.options
	if options.RetentionInterval == 0 {
		options.RetentionInterval = -1
	}
	if options.CompactionInterval == 0 {
		options.CompactionInterval = -1
	}
	var err error
	w.engine, err = storage.NewEngine(options)
	must(w.t, err)
	w.t.Cleanup(w.stop)
	must(w.t, create(w.fs))
	w.ledger.mu.Lock()
	w.ledger.exists = true
	w.ledger.mu.Unlock()
	w.take()
}

func (w *crashWorld) stop() {
	w.cutting.Store(true)
	w.endReaders()
	if err := w.engine.Close(); err != nil {
		w.t.Errorf("close engine: %v", err)
	}
}

// cut tries every choice of what survives at this moment. Calls that are made meanwhile on other goroutines are not cut:
// programs let the background come to rest between their steps, so there are few.
func (w *crashWorld) cut(where string) {
	if !w.cutting.CompareAndSwap(false, true) {
		return
	}
	defer w.cutting.Store(false)
	if w.calls++; testing.Short() && w.calls%4 != 0 && where != "end" {
		return
	}
	pending := len(w.disk.Pending())
	w.try(where, "none", vfs.SurviveNone)
	if pending == 0 {
		return
	}
	w.try(where, "all", vfs.SurviveAll)
	for i := range pending {
		w.try(where, fmt.Sprint("only ", i), vfs.SurviveOnly(i))
	}
	for seed := range w.seeds {
		w.try(where, fmt.Sprint("seed ", seed), vfs.SurviveSeeded(uint64(seed)))
	}
}

func (w *crashWorld) try(where, choice string, survive vfs.Choice) {
	if w.t.Failed() {
		return
	}
	w.images++
	l := w.ledger.clone()
	if p := w.leading.Load(); p != nil {
		l.shown = p.Offsets()
	}
	if w.program.pageCache {
		l.shown = storage.Offsets{LogStart: l.shown.LogStart}
		clear(l.promised)
		clear(l.producers)
		clear(l.transactions.open)
		maps.Copy(l.promised, l.firm)
	}
	image := w.disk.PowerCut(survive)
	if w.images%5 == 0 { // now and then the power fails again during the takeover
		image = cutAgain(image, w.config, w.images)
	}
	if err := l.verify(image, w.config); err != nil {
		w.t.Errorf("power cut at call %d (%s), survivors: %s: %v", w.calls, where, choice, err)
	}
}

// cutAgain begins a takeover and cuts the power at one of its calls.
func cutAgain(disk *vfs.Crash, config storage.Config, seed int) *vfs.Crash {
	var second *vfs.Crash
	calls := 0
	filesystem := vfs.NewFault(disk, func(op vfs.Op) error {
		if op.Kind.Mutating() && !op.After {
			if calls++; calls == 1+seed/5%9 {
				second = disk.PowerCut(vfs.SurviveSeeded(uint64(seed)))
			}
		}
		return nil
	})
	engine, err := storage.NewEngine(storage.Options{RetentionInterval: -1})
	if err != nil {
		return disk
	}
	defer engine.Close()
	if p, err := takeFrom(engine, filesystem, config); err == nil {
		p.Abandon()
		<-p.Closed()
	}
	if second == nil {
		return disk
	}
	return second
}

func (w *crashWorld) take() {
	w.t.Helper()
	p, err := takeFrom(w.engine, w.fs, w.config)
	must(w.t, err)
	if w.p != nil {
		w.p.Abandon()
	}
	w.p = p
	w.leading.Store(p)
	synctest.Wait()
}

func (w *crashWorld) append(tag string, n int) {
	w.t.Helper()
	must(w.t, w.ledger.write(w.p, records(w.t, tag, n, 1000)))
	synctest.Wait()
}

func (w *crashWorld) appendTogether(tags ...string) {
	w.t.Helper()
	var tickets []storage.Ticket
	for _, tag := range tags {
		ticket, err := w.ledger.ask(w.p, records(w.t, tag, 2, 1000))
		must(w.t, err)
		tickets = append(tickets, ticket)
	}
	for i, ticket := range tickets {
		must(w.t, ticket.WaitDurable(context.Background()))
		must(w.t, w.ledger.promise(ticket.Result(), records(w.t, tags[i], 2, 1000), w.p.Epoch()))
	}
	synctest.Wait()
}

// put appends one record each of some keys.
func (w *crashWorld) put(tag string, keys ...string) {
	w.t.Helper()
	b, err := buildKeyed(tag, keys...)
	must(w.t, err)
	must(w.t, w.ledger.write(w.p, b))
	synctest.Wait()
}

// compact compacts, and remembers what is gone then.
func (w *crashWorld) compact() {
	w.t.Helper()
	must(w.t, w.p.Compact(context.Background()))
	must(w.t, w.ledger.noteGone(w.p))
	synctest.Wait()
}

// marker appends what is durable when it is acknowledged, whatever the topic's configuration says.
func (w *crashWorld) marker() {
	w.t.Helper()
	b := records(w.t, "marker", 1, 1000)
	ticket, err := w.ledger.askWith(w.p, b, storage.AppendOptions{Sync: true})
	must(w.t, err)
	must(w.t, ticket.WaitDurable(context.Background()))
	must(w.t, w.ledger.promise(ticket.Result(), b, w.p.Epoch()))
	w.ledger.mu.Lock()
	maps.Copy(w.ledger.firm, w.ledger.promised)
	w.ledger.mu.Unlock()
	synctest.Wait()
}

func (w *crashWorld) sequenced(id int64, sequence int32, n int) {
	w.t.Helper()
	must(w.t, w.ledger.write(w.p, sequenced(w.t, id, 0, sequence, n)))
	synctest.Wait()
}

// begin begins a transaction of a producer.
func (w *crashWorld) begin(id int64) {
	w.t.Helper()
	must(w.t, w.ledger.begin(w.p, id))
	synctest.Wait()
}

// end ends it.
func (w *crashWorld) end(id int64, commit bool) {
	w.t.Helper()
	must(w.t, w.ledger.end(w.p, id, id*10, commit))
	synctest.Wait()
}

// idle lets the recovery point move.
func (w *crashWorld) idle() {
	time.Sleep(20 * time.Second)
	synctest.Wait()
}

func (w *crashWorld) deleteRecords(offset int64) {
	w.t.Helper()
	must(w.t, w.ledger.deleteRecords(w.p, offset))
	synctest.Wait()
}

// readSlowly begins to read at an offset, and does not end it.
func (w *crashWorld) readSlowly(offset int64) {
	w.t.Helper()
	section, err := w.p.Read(offset, storage.ReadOptions{MaxBytes: 1 << 20, AtLeastOneBatch: true})
	must(w.t, err)
	if section == nil {
		w.t.Fatalf("nothing to read at offset %d", offset)
	}
	w.slow = append(w.slow, section)
}

// endReaders ends what readSlowly has begun.
func (w *crashWorld) endReaders() {
	for _, section := range w.slow {
		section.Release()
	}
	w.slow = nil
	synctest.Wait()
}

// retention lets a pass run, which moves the log start to an offset.
func (w *crashWorld) retention(start int64) {
	w.t.Helper()
	w.ledger.mu.Lock()
	w.ledger.startAsk = start
	w.ledger.mu.Unlock()
	time.Sleep(2 * time.Minute)
	synctest.Wait()
	if got := w.p.Offsets().LogStart; got != start {
		w.t.Fatalf("log start %d after retention, want %d", got, start)
	}
	w.ledger.mu.Lock()
	w.ledger.start = start
	w.ledger.mu.Unlock()
}

func (w *crashWorld) handover() {
	w.t.Helper()
	must(w.t, w.p.Handover(context.Background()))
	<-w.p.Closed()
	w.ledger.mu.Lock()
	maps.Copy(w.ledger.firm, w.ledger.promised)
	w.ledger.mu.Unlock()
	synctest.Wait()
}

func (w *crashWorld) destroy() {
	w.t.Helper()
	w.ledger.mu.Lock()
	w.ledger.deleting = true
	w.ledger.mu.Unlock()
	root, err := w.fs.OpenDir(".")
	must(w.t, err)
	defer root.Close()
	must(w.t, storage.DestroyPartition(context.Background(), root, "p"))
	synctest.Wait()
}
