package coordinator

import (
	"context"
	"time"

	"github.com/kaas-rs/kaas/kaas-coordinator/group"
	"github.com/kaas-rs/kaas/kaas-coordinator/offset"
	"github.com/kaas-rs/kaas/kaas-coordinator/slot"
	"github.com/kaas-rs/kaas/kaas-coordinator/txn"
	"github.com/kaas-rs/kaas/kaas-storage"
)

// load replays a slot.
func (c *Coordinator) load(ctx context.Context, p *storage.Partition) (*leadership, error) {
	led := &leadership{config: c.options.Groups, log: c.log, groups: make(map[string]*entry)}
	loaded := replayed{
		offsets: make(map[string]*offset.Offsets), groups: make(map[string]group.Snapshot),
		transactions: make(map[string]*transaction), marks: make(map[int64]placed),
	}
	opened, err := slot.Open(ctx, p, loaded.apply, slot.Options{Logger: c.log, Tripwires: c.options.Tripwires})
	if err != nil {
		return nil, err
	}
	led.slot, led.epoch = opened, int32(p.Epoch())
	led.ctx, led.cancel = context.WithCancel(context.Background())
	led.Lock()
	defer led.Unlock()
	led.fill(loaded, c.options.Clock.Now())
	return led, nil
}

// replayed is what a replay found.
type replayed struct {
	offsets map[string]*offset.Offsets
	groups  map[string]group.Snapshot

	transactions map[string]*transaction
	marks        map[int64]placed
}

// apply takes one record.
func (r *replayed) apply(record slot.Record, _ int64) error {
	id := record.Key.ID
	switch record.Key.Kind {
	case slot.KindOffset, slot.KindPending:
		of := r.offsets[id]
		if of == nil {
			of = offset.New()
			r.offsets[id] = of
		}
		return of.Apply(record)
	case slot.KindGroup:
		if record.Value == nil {
			delete(r.groups, id)
			return nil
		}
		snapshot, err := group.DecodeSnapshot(record.Value)
		if err != nil {
			return err
		}
		r.groups[id] = snapshot
	case slot.KindTransaction:
		return r.applyTransaction(id, record.Value)
	case slot.KindMarker:
		return r.applyMark(record.Key.ProducerID, record.Value)
	}
	return nil
}

// applyTransaction takes a transaction record of a replay.
func (r *replayed) applyTransaction(id string, value []byte) error {
	if value == nil {
		delete(r.transactions, id)
		return nil
	}
	t, err := txn.Decode(value)
	if err != nil {
		return err
	}
	r.transactions[id] = newTransaction(t, slot.Pending{})
	return nil
}

// applyMark takes a marker record of a replay.
func (r *replayed) applyMark(producerID int64, value []byte) error {
	if value == nil {
		delete(r.marks, producerID)
		return nil
	}
	mark, err := txn.DecodeMark(value)
	if err != nil {
		return err
	}
	r.marks[producerID] = placed{Mark: mark}
	return nil
}

// fill shows what a replay found. The caller holds the lock.
func (l *leadership) fill(loaded replayed, today time.Time) {
	l.transactions, l.marks = loaded.transactions, loaded.marks
	for _, t := range l.transactions {
		t.reopen(today)
	}
	for id, snapshot := range loaded.groups {
		l.groups[id] = &entry{live: group.RestoreLive(l.liveOptions(id), snapshot), offsets: offset.New(), stored: true}
	}
	for id, offsets := range loaded.offsets {
		if e := l.groups[id]; e != nil {
			e.offsets = offsets
		} else if !offsets.IsEmpty() {
			l.groups[id] = &entry{live: group.NewLive(l.liveOptions(id)), offsets: offsets}
		}
	}
}
