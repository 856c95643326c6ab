package interleaving

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage"
)

// leadership is one successful takeover.
type leadership struct {
	owner     *Owner
	epoch     storage.Epoch
	partition *storage.Partition
	closed    atomic.Bool
	offsets   storage.Offsets // as last seen
	read      int64           // offset up to which the judge has read
	decided   int64           // and up to which it has compared decisions
}

// record is what a reader sees at one offset.
type record struct {
	key      string
	value    string
	producer int64
	sequence int32
	epoch    int32
}

// judge remembers what was promised and what was shown, and compares after each step. It reads through the owners' engines.
type judge struct {
	world      *world
	destroying atomic.Bool
	destroyed  atomic.Bool

	mu          sync.Mutex
	leaderships []*leadership
	seen        map[int64]record
	acked       map[int64]string        // value by offset
	gone        map[int64]storage.Epoch // lowest epoch of an owner that was seen to have compacted an offset away
	verdict     error
}

func newJudge(w *world) *judge {
	return &judge{world: w, seen: make(map[int64]record), acked: make(map[int64]string), gone: make(map[int64]storage.Epoch)}
}

// violated keeps the first violation. Between the beginning and the end of a deletion nothing is promised: a late taker may find a directory whose
// names have gone, and lead at an epoch that was used before, until whoever deletes comes back.
func (j *judge) violatedf(format string, values ...any) {
	if j.verdict == nil && (!j.destroying.Load() || j.destroyed.Load()) {
		j.verdict = fmt.Errorf(format, values...)
	}
}

func (j *judge) tookOver(o *Owner, p *storage.Partition) *leadership {
	j.mu.Lock()
	defer j.mu.Unlock()
	l := &leadership{owner: o, epoch: p.Epoch(), partition: p}
	j.leaderships = append(j.leaderships, l)
	slices.SortFunc(j.leaderships, byEpoch)
	for i := 1; i < len(j.leaderships); i++ {
		if j.leaderships[i-1].epoch == j.leaderships[i].epoch {
			j.violatedf("%s and %s both lead at epoch %d", j.leaderships[i-1].owner.name, j.leaderships[i].owner.name, l.epoch)
		}
	}
	return l
}

// checkSucceeded: once an owner's takeover is published, no check of a lower epoch succeeds.
func (j *judge) checkSucceeded(o *Owner, claim string) {
	number, err := strconv.ParseUint(strings.TrimPrefix(claim, "leader."), 16, 32)
	if err != nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, l := range j.leaderships {
		if uint64(l.epoch) > number {
			j.violatedf("check of epoch %d by %s succeeds after %s published its takeover at epoch %d", number, o.name, l.owner.name, l.epoch)
		}
	}
}

func (j *judge) acknowledged(l *leadership, p *producer, sequence int32, r storage.AppendResult) {
	p.mu.Lock()
	b := &p.batches[sequence]
	again, before := b.acknowledged, b.offset
	b.acknowledged, b.offset = true, r.BaseOffset
	p.mu.Unlock()
	j.mu.Lock()
	defer j.mu.Unlock()
	if again && before != r.BaseOffset {
		j.violatedf("%s is acknowledged at offset %d and, by %s, at %d", p.value(sequence), before, l.owner.name, r.BaseOffset)
	}
	if j.destroying.Load() {
		if !j.destroyed.Load() || r.Duplicate { // a retry of what was acknowledged before: still true
			return
		}
		j.violatedf("%s acknowledges %s after the partition was deleted", l.owner.name, p.value(sequence))
	}
	if other, ok := j.acked[r.BaseOffset]; ok && other != p.value(sequence) {
		j.violatedf("offset %d is acknowledged for %s and, by %s, for %s", r.BaseOffset, other, l.owner.name, p.value(sequence))
	}
	j.acked[r.BaseOffset] = p.value(sequence)
}

// refused: the newest leader knows every acknowledged batch, so the next one of a producer fits.
func (j *judge) refused(l *leadership, p *producer, sequence int32, err error) {
	if !errors.Is(err, storage.ErrOutOfOrderSequence) && !errors.Is(err, storage.ErrProducerEpoch) {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if l == j.leaderships[len(j.leaderships)-1] && l.partition.Err() == nil {
		j.violatedf("%s, the newest leader, refuses %s: %w", l.owner.name, p.value(sequence), err)
	}
}

// observe is called when every goroutine is blocked. blocked owners have a file opening under way, under a lock that reading needs.
func (j *judge) observe(blocked map[*Owner]bool) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, l := range j.leaderships {
		if !j.destroying.Load() {
			j.look(l, blocked[l.owner])
		}
	}
	j.compareBounds()
	j.compareAcknowledged()
	return j.verdict
}

func (j *judge) look(l *leadership, blocked bool) {
	now := l.partition.Offsets()
	if now.LogStart < l.offsets.LogStart || now.LastStable < l.offsets.LastStable || now.HighWatermark < l.offsets.HighWatermark {
		j.violatedf("bounds of %s go back from %+v to %+v", l.owner.name, l.offsets, now)
	}
	l.offsets = now
	if blocked || l.closed.Load() {
		return
	}
	err := error(nil)
	if l.read < now.HighWatermark {
		err = j.readOn(l, now)
	}
	if err == nil {
		err = j.compareDecisions(l, now)
	}
	if err != nil && l.partition.Err() == nil && l == j.leaderships[len(j.leaderships)-1] {
		j.violatedf("%s, the newest leader, cannot read at offset %d below its watermark %d: %w", l.owner.name, l.read, now.HighWatermark, err)
	}
}

// readOn reads what has become visible since the last time.
func (j *judge) readOn(l *leadership, bounds storage.Offsets) error {
	l.owner.judging.Store(true)
	defer l.owner.judging.Store(false)
	l.read = max(l.read, bounds.LogStart)
	for l.read < bounds.HighWatermark {
		records, next, err := readBatches(l.partition, l.read, j.gaps())
		if err != nil {
			return err
		}
		for offset, r := range records {
			if offset < bounds.LogStart || offset >= bounds.HighWatermark {
				continue
			}
			if before, ok := j.seen[offset]; ok && before != r {
				j.violatedf("offset %d was read as %+v and is read from %s as %+v", offset, before, l.owner.name, r)
			}
			j.seen[offset] = r
		}
		j.compareGaps(l, records, min(next, bounds.HighWatermark))
		l.read = next
	}
	return nil
}

// readBatches reads one section, which must begin with the batch that holds offset, or with the next one where there may be gaps, and returns the offset behind it.
func readBatches(p *storage.Partition, offset int64, gaps bool) (map[int64]record, int64, error) {
	section, err := p.Read(offset, storage.ReadOptions{MaxBytes: 1 << 20, AtLeastOneBatch: true})
	if err != nil {
		return nil, 0, err
	}
	if section == nil {
		return nil, 0, errors.New("nothing is found")
	}
	defer section.Release()
	data := make([]byte, section.Size())
	if _, err := section.ReadAt(data, 0); err != nil {
		return nil, 0, err
	}
	records, next := make(map[int64]record), offset
	for len(data) > 0 {
		b, rest, err := batch.Next(data)
		if err != nil {
			return nil, 0, fmt.Errorf("at offset %d: %w", next, err)
		}
		if !b.ValidCRC() || b.BaseOffset() > next && !gaps || b.LastOffset() < next {
			return nil, 0, fmt.Errorf("at offset %d is a batch of offsets %d to %d, checksum valid: %t", next, b.BaseOffset(), b.LastOffset(), b.ValidCRC())
		}
		for r, err := range b.Records(nil, batch.SiteTool, 1<<20) {
			if err != nil {
				return nil, 0, err
			}
			records[b.BaseOffset()+int64(r.OffsetDelta)] = record{string(r.Key), string(r.Value), b.ProducerID(), b.BaseSequence() + r.OffsetDelta, b.LeaderEpoch()}
		}
		next, data = b.LastOffset()+1, rest
	}
	return records, next, nil
}

// compareBounds: what an owner shows, every owner of a higher epoch shows, at any time.
func (j *judge) compareBounds() {
	if j.destroying.Load() {
		return
	}
	for i := 1; i < len(j.leaderships); i++ {
		lower, higher := j.leaderships[i-1], j.leaderships[i]
		if lower.offsets.HighWatermark > higher.offsets.HighWatermark {
			j.violatedf("%s at epoch %d shows watermark %d, %s at epoch %d only %d", lower.owner.name, lower.epoch, lower.offsets.HighWatermark,
				higher.owner.name, higher.epoch, higher.offsets.HighWatermark)
		}
		if lower.offsets.LastStable > higher.offsets.LastStable {
			j.violatedf("%s at epoch %d shows last stable offset %d, %s at epoch %d only %d", lower.owner.name, lower.epoch, lower.offsets.LastStable,
				higher.owner.name, higher.epoch, higher.offsets.LastStable)
		}
		if lower.offsets.LogStart > higher.offsets.LogStart {
			j.violatedf("%s at epoch %d shows log start %d, %s at epoch %d goes back to %d", lower.owner.name, lower.epoch, lower.offsets.LogStart,
				higher.owner.name, higher.epoch, higher.offsets.LogStart)
		}
	}
}

// compareAcknowledged: the newest leader has every acknowledged record, where it was acknowledged.
func (j *judge) compareAcknowledged() {
	if len(j.leaderships) == 0 || j.destroying.Load() {
		return
	}
	newest := j.leaderships[len(j.leaderships)-1]
	for offset, value := range j.acked {
		if offset >= newest.offsets.HighWatermark {
			j.violatedf("acknowledged offset %d (%s) is not below the watermark %d of %s, the newest leader", offset, value,
				newest.offsets.HighWatermark, newest.owner.name)
		}
		if r, ok := j.seen[offset]; ok && r.value != value {
			j.violatedf("offset %d was acknowledged for %s and is read as %+v", offset, value, r)
		}
	}
}
