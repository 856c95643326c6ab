package storage_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/storagetest"
)

// In a compacted log the ledger's values begin with their keys, up to a colon. A promised record may be missing where a later one of its key is there, or its
// transaction was aborted; and what somebody has seen to be gone never comes back.

// buildKeyed is a batch of one record each of some keys.
func buildKeyed(tag string, keys ...string) (batch.Batch, error) {
	builder := batch.NewBuilder()
	for _, key := range keys {
		builder.Add(1000, []byte(key), []byte(key+":"+tag))
	}
	return builder.Build()
}

// keyedTransactional is the first batch of a transaction, two records with keys.
func keyedTransactional(id int64, tag string, keys ...string) (batch.Batch, error) {
	builder := batch.NewBuilder()
	builder.ProducerID, builder.ProducerEpoch, builder.BaseSequence, builder.Transactional = id, 0, 0, true
	for _, key := range keys {
		builder.Add(1000, []byte(key), []byte(key+":"+tag))
	}
	return builder.Build()
}

func keyOf(value string) string {
	key, _, keyed := strings.Cut(value, ":")
	if !keyed {
		return ""
	}
	return key
}

// readCompacted reads every record with its epoch, over gaps, from start to end.
func readCompacted(p *storage.Partition) (found map[int64]promise, start, end int64, err error) {
	found = map[int64]promise{}
	bounds := p.Offsets()
	start = bounds.LogStart
	for end = start; end < bounds.HighWatermark; {
		section, err := p.Read(end, storage.ReadOptions{MaxBytes: 1 << 20, AtLeastOneBatch: true})
		if err != nil {
			return nil, 0, 0, err
		}
		if section == nil {
			return nil, 0, 0, fmt.Errorf("nothing at offset %d or behind, below the watermark %d", end, bounds.HighWatermark)
		}
		data := make([]byte, section.Size())
		_, err = section.ReadAt(data, 0)
		section.Release()
		if err != nil {
			return nil, 0, 0, err
		}
		if end, err = decodeGapped(found, data, end); err != nil {
			return nil, 0, 0, err
		}
	}
	maps.DeleteFunc(found, func(offset int64, _ promise) bool { return offset < start })
	return found, start, end, nil
}

func decodeGapped(found map[int64]promise, data []byte, next int64) (int64, error) {
	for len(data) > 0 {
		b, rest, err := batch.Next(data)
		switch {
		case err != nil:
			return 0, err
		case !b.ValidCRC() || b.LastOffset() < next:
			return 0, fmt.Errorf("batch of offsets %d to %d at offset %d, checksum valid: %t", b.BaseOffset(), b.LastOffset(), next, b.ValidCRC())
		}
		for record, err := range b.Records(nil, batch.SiteTool, 1<<30) {
			if err != nil {
				return 0, err
			}
			found[b.BaseOffset()+int64(record.OffsetDelta)] = promise{string(record.Value), storage.Epoch(b.LeaderEpoch())}
		}
		next, data = b.LastOffset()+1, rest
	}
	return next, nil
}

// noteGone remembers what a reader has seen to be gone.
func (l *ledger) noteGone(p *storage.Partition) error {
	found, start, end, err := readCompacted(p)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for offset := start; offset < end; offset++ {
		if _, there := found[offset]; !there {
			l.gone[offset] = true
		}
	}
	return nil
}

// checkCompacted is check's look at the records of a log that is compacted.
func (l *ledger) checkCompacted(p *storage.Partition) error {
	bounds := p.Offsets()
	found, _, _, err := readCompacted(p)
	if err != nil {
		return err
	}
	newest := map[string]int64{}
	for _, offset := range slices.Sorted(maps.Keys(found)) {
		value := found[offset].value
		switch {
		case !l.asked[offset][value]:
			return fmt.Errorf("offset %d holds %s, which nobody wrote there", offset, value)
		case l.gone[offset]:
			return fmt.Errorf("offset %d, which was gone, holds %s", offset, value)
		}
		newest[keyOf(value)] = offset
	}
	for _, offset := range slices.Sorted(maps.Keys(l.promised)) {
		want := l.promised[offset]
		if offset < bounds.LogStart {
			continue
		}
		got, there := found[offset]
		switch key := keyOf(want.value); {
		case there && got != want:
			return fmt.Errorf("offset %d, acknowledged as %v, holds %v", offset, want, got)
		case !there && offset >= bounds.HighWatermark:
			return fmt.Errorf("offset %d, acknowledged as %v, is lost: the log ends at %d", offset, want, bounds.LogEnd)
		case !there && l.mayGo[want.value]:
		case !there && (key == "" || newest[key] < offset):
			return fmt.Errorf("offset %d, acknowledged as %v, is gone, and no later one of its key is there: %v", offset, want, found)
		}
		if epoch := p.EpochForOffset(offset); epoch != want.epoch {
			return fmt.Errorf("offset %d of epoch %d is said to be of %d", offset, want.epoch, epoch)
		}
		if epoch, end := p.OffsetForLeaderEpoch(want.epoch); epoch != want.epoch || end <= offset {
			return fmt.Errorf("epoch %d is said to end at (%d, %d), but holds offset %d", want.epoch, epoch, end, offset)
		}
	}
	return nil
}

// compactAgain compacts what a verification has found.
func (l *ledger) compactAgain(p *storage.Partition) error {
	if l.gone == nil {
		return nil
	}
	if err := p.Compact(context.Background()); err != nil {
		return err
	}
	return errors.Join(l.check(p), l.noteGone(p))
}

// transactionsHold is CheckTransactions, or what is left of it in a compacted log.
func (l *ledger) transactionsHold(p *storage.Partition) error {
	if l.gone != nil {
		return storagetest.CheckCompactedTransactions(p)
	}
	return storagetest.CheckTransactions(p)
}

// readGapped is read of a log that is compacted.
func (c *contest) readGapped(p *storage.Partition) {
	found, start, _, err := readCompacted(p)
	if err != nil || p.Offsets().LogStart != start {
		return
	}
	if err := c.ledger.noteGone(p); err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for offset, r := range found {
		if old, known := c.seen[offset]; known && old != r.value {
			c.violations = append(c.violations, fmt.Errorf("offset %d was seen to hold %s, now %s", offset, old, r.value))
		}
		c.seen[offset] = r.value
	}
}

// A file call that fails during a compaction leaves the log as it was, or ends a leadership: what is promised holds.
func TestFailureAtEveryCallOfCompaction(t *testing.T) {
	config := storage.DefaultConfig()
	config.Compact = true
	failAtEveryCall(t, newCompactedLedger, config, (*ledger).compactionSteps)
}

func newCompactedLedger() *ledger {
	l := newLedger()
	l.gone, l.mayGo = map[int64]bool{}, map[string]bool{}
	return l
}

func (l *ledger) compactionSteps() []workStep {
	return []workStep{
		l.step, l.beginStep, l.step, l.endStep, l.step, l.compactStep, l.step, handoverStep, l.step, l.compactStep, l.deleteStep, l.compactStep, l.step,
	}
}

// compactStep: a compaction that fails does no harm to who leads.
func (l *ledger) compactStep(p *storage.Partition, _ int) error {
	err := p.Compact(context.Background())
	if ended := p.Err(); ended != nil {
		return ended
	}
	if err != nil {
		err = p.Compact(context.Background()) // the next one succeeds
	}
	if err == nil {
		err = l.noteGone(p)
	}
	return err
}
