package interleaving

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/kaas-rs/kaas/kaas-storage"
)

// epilogue ends all faults and looks whether the partition can still be led, and what its log holds.
func (w *world) epilogue() error {
	if err := w.settle(); err != nil {
		return err
	}
	w.tellf("faults end; everybody goes on until nobody has anything to do")
	final, err := w.addOwner(OwnerPlan{Name: "final", Client: "final"})
	if err != nil {
		return err
	}
	w.owners = append(w.owners, final)
	if w.judge.destroying.Load() {
		return w.deletedForGood(final)
	}
	if err := w.ledAgain(final); err != nil {
		return err
	}
	if err := w.transactionsEnd(final); err != nil {
		return err
	}
	if err := w.judge.examine(final.lead, w.producers); err != nil {
		return err
	}
	return w.zombiesAreFenced()
}

// do runs steps of an owner with everybody else at rest.
func (w *world) do(o *Owner, steps ...Step) error {
	o.work.Go(func() { o.carryOut(steps) })
	return w.drain()
}

func (w *world) ledAgain(final *Owner) error {
	var last error
	take := Step{"take over", func(o *Owner) { last = o.take() }}
	for range 3 {
		if err := w.do(final, take); err != nil {
			return err
		}
		if final.lead != nil {
			return w.do(final, Append(0), Append(1))
		}
		if err := w.settle(); err != nil {
			return err
		}
	}
	return fmt.Errorf("nobody can take over when all faults have ended: %w", last)
}

func (w *world) deletedForGood(final *Owner) error {
	var last error
	err := w.do(final, Destroy(), Step{"take over", func(o *Owner) { last = o.take() }})
	switch {
	case err != nil:
		return err
	case !w.judge.destroyed.Load():
		return errors.New("the partition cannot be deleted when all faults have ended")
	case !errors.Is(last, fs.ErrNotExist):
		return fmt.Errorf("a deleted partition is taken over: %w", last)
	}
	return w.zombiesAreFenced()
}

// zombiesAreFenced lets every earlier leader append once more: the judge notices an acknowledgement.
func (w *world) zombiesAreFenced() error {
	for _, o := range w.owners {
		if o.lead == nil || o.lead == w.judge.newest() && !w.judge.destroyed.Load() {
			continue
		}
		if err := w.do(o, Append(Plain)); err != nil {
			return err
		}
		if err := o.lead.partition.Err(); err == nil {
			return fmt.Errorf("%s still leads", o.name)
		}
	}
	return nil
}

func (j *judge) newest() *leadership {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.leaderships) == 0 {
		return nil
	}
	return j.leaderships[len(j.leaderships)-1]
}

// examine reads the whole log of the last leader: every offset through the indexes, epochs, producers, timestamps.
func (j *judge) examine(l *leadership, all []*producer) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	l.owner.judging.Store(true)
	defer l.owner.judging.Store(false)
	bounds := l.partition.Offsets()
	for offset := bounds.LogStart; offset < bounds.HighWatermark; offset++ {
		records, _, err := readBatches(l.partition, offset, j.gaps())
		if err != nil {
			return fmt.Errorf("offset %d cannot be read at the end: %w", offset, err)
		}
		r, ok := records[offset]
		if !ok && j.gaps() {
			if err := j.examineGone(l, offset); err != nil {
				return err
			}
			continue
		}
		if seen, was := j.seen[offset]; !ok || !was || seen != r {
			return fmt.Errorf("offset %d was read as %+v and is read at the end as %+v", offset, seen, r)
		}
		if epoch := l.partition.EpochForOffset(offset); int32(epoch) != r.epoch {
			return fmt.Errorf("offset %d was written at epoch %d, the leader says %d", offset, r.epoch, epoch)
		}
	}
	for offset := range j.acked {
		if _, ok := j.seen[offset]; !ok && offset >= bounds.LogStart && !j.gaps() {
			return fmt.Errorf("acknowledged offset %d is not in the log", offset)
		}
	}
	if err := j.examineTransactions(l); err != nil {
		return err
	}
	for _, p := range all[:producers] {
		if err := j.examineProducer(l, p, bounds); err != nil {
			return err
		}
	}
	return nil
}

// examineProducer: its batches are in the log once and in order, and the leader knows the last one.
func (j *judge) examineProducer(l *leadership, p *producer, bounds storage.Offsets) error {
	last, lastOffset := int32(-1), int64(-1)
	for offset := bounds.LogStart; offset < bounds.HighWatermark; offset++ {
		r := j.seen[offset]
		if r.producer != p.id {
			continue
		}
		if last >= 0 && r.sequence != last+1 && (!j.gaps() || r.sequence <= last) {
			return fmt.Errorf("sequence %d of producer %d follows %d at offset %d", r.sequence, p.id, last, offset)
		}
		last, lastOffset = r.sequence, offset
		if _, gone := j.gone[offset]; gone {
			continue
		}
		found, err := l.partition.OffsetForTimestamp(context.Background(), p.timestamp(r.sequence), bounds.HighWatermark)
		if err != nil || found.Offset > offset || found.Timestamp < p.timestamp(r.sequence) {
			return fmt.Errorf("lookup of timestamp %d at offset %d finds %+v, %w", p.timestamp(r.sequence), offset, found, err)
		}
	}
	if last < 0 {
		return nil
	}
	for _, state := range l.partition.Producers() {
		if state.ID == p.id && (state.LastSequence != last || state.LastOffset != lastOffset) {
			return fmt.Errorf("last batch of producer %d is sequence %d at offset %d, the leader knows %+v", p.id, last, lastOffset, state)
		}
	}
	ticket, err := l.partition.Append(p.batch(last), storage.AppendOptions{})
	if err != nil || !ticket.Result().Duplicate || ticket.Result().BaseOffset != lastOffset {
		return fmt.Errorf("retry of sequence %d of producer %d at offset %d gives %+v, %w", last, p.id, lastOffset, ticket.Result(), err)
	}
	return nil
}
