package interleaving

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage"
)

// Owner is one process with an engine. Its commands run on a goroutine of its own.
type Owner struct {
	name    string
	world   *world
	fs      *gatedFS
	engine  *storage.Engine
	judging atomic.Bool // the judge reads: its calls do not wait and leave no trace
	lead    *leadership // the latest; only the owner's goroutine changes it, while nobody else runs
	work    sync.WaitGroup

	mu         sync.Mutex
	history    uint64
	repeats    map[string]int
	lastResult string
}

// run carries out steps, each in its turn.
func (o *Owner) carryOut(steps []Step) {
	for _, step := range steps {
		if o.world.gate.pass(&call{owner: o, text: "* " + step.Name}) != nil {
			return
		}
		o.note(step.Name, "", nil)
		step.Run(o)
	}
}

// Take takes the partition over.
func Take() Step {
	return Step{"take over", func(o *Owner) { _ = o.take() }}
}

func (o *Owner) take() error {
	dir, err := o.fs.OpenDir(directory)
	if err == nil {
		var p *storage.Partition
		p, err = o.engine.Take(context.Background(), dir, storage.TakeOptions{Label: o.name, Config: o.world.plan.Config})
		if err == nil {
			o.lead = o.world.judge.tookOver(o, p)
		}
	}
	o.note("take over ends", "", err)
	return err
}

// Append appends the next batch of a producer and waits until it is durable.
func Append(producer int) Step {
	return Step{fmt.Sprintf("append of producer %d", producer), func(o *Owner) {
		if wait := o.append(producer); wait != nil {
			wait()
		}
	}}
}

// Send appends without waiting.
func Send(producer int) Step {
	return Step{fmt.Sprintf("send of producer %d", producer), func(o *Owner) {
		if wait := o.append(producer); wait != nil {
			o.work.Go(wait)
		}
	}}
}

func (o *Owner) append(number int) (wait func()) {
	if o.lead == nil {
		return nil
	}
	l, p := o.lead, o.world.producers[number]
	sequence := p.next(l)
	ticket, err := l.partition.Append(p.batch(sequence), storage.AppendOptions{})
	o.note("append", strconv.Itoa(int(sequence)), err)
	if err != nil {
		o.world.judge.refused(l, p, sequence, err)
		return nil
	}
	return func() {
		err := ticket.WaitDurable(context.Background())
		o.note("append ends", strconv.Itoa(int(sequence)), err)
		if err == nil {
			o.world.judge.acknowledged(l, p, sequence, ticket.Result())
		}
	}
}

// DeleteRecords moves the log start to the high watermark less keep.
func DeleteRecords(keep int64) Step {
	return Step{fmt.Sprintf("delete all but %d records", keep), func(o *Owner) {
		if o.lead == nil {
			return
		}
		offset := max(o.lead.partition.Offsets().HighWatermark-keep, 0)
		_, err := o.lead.partition.DeleteRecords(context.Background(), offset)
		o.note("delete records ends", strconv.FormatInt(offset, 10), err)
	}}
}

// Handover ends the leadership in good order.
func Handover() Step {
	return Step{"hand over", func(o *Owner) {
		if o.lead == nil {
			return
		}
		err := o.lead.partition.Handover(context.Background())
		o.lead.closed.Store(true)
		o.note("hand over ends", "", err)
	}}
}

// Abandon ends the leadership at once, as the end of a process would, except that what was written is sent to the server.
func Abandon() Step {
	return Step{"abandon", func(o *Owner) {
		if o.lead != nil {
			o.lead.closed.Store(true)
			o.lead.partition.Abandon()
		}
	}}
}

// Compact compacts what may be compacted.
func Compact() Step {
	return Step{"compact", func(o *Owner) {
		if o.lead != nil {
			o.compact(o.lead)
		}
	}}
}

// SendCompact is Compact without waiting.
func SendCompact() Step {
	return Step{"compact aside", func(o *Owner) {
		if l := o.lead; l != nil {
			o.work.Go(func() { o.compact(l) })
		}
	}}
}

func (o *Owner) compact(l *leadership) {
	err := l.partition.Compact(context.Background())
	o.note("compact ends", "", err)
	if err == nil {
		o.world.judge.compacted(l)
	}
}

// Destroy tries once to delete the partition's directory: files that another process of the same client holds keep it.
func Destroy() Step {
	return Step{"delete partition", func(o *Owner) {
		o.world.judge.destroying.Store(true)
		root, err := o.fs.OpenDir(".")
		if err == nil {
			once, cancel := context.WithCancel(context.Background())
			cancel()
			err = storage.DestroyPartition(once, root, directory)
			_ = root.Close()
		}
		o.note("delete partition ends", "", err)
		if err == nil {
			o.world.judge.destroyed.Store(true)
		}
	}}
}

// Producers of a run: idempotent ones, and one that is not.
const (
	producers = 2
	Plain     = producers
)

// producer is one idempotent producer: it sends its lowest unacknowledged batch to whoever it takes for the leader. One without an id sends
// each batch once.
type producer struct {
	id    int64
	plain bool

	mu      sync.Mutex
	batches []sentBatch // by sequence; each has one record
}

type sentBatch struct {
	acknowledged bool
	offset       int64
	sentTo       map[*leadership]bool
}

// next is the lowest sequence that is not acknowledged and was not sent to this leader.
func (p *producer) next(l *leadership) int32 {
	p.mu.Lock()
	defer p.mu.Unlock()
	for sequence := range p.batches {
		b := &p.batches[sequence]
		if !p.plain && !b.acknowledged && !b.sentTo[l] {
			b.sentTo[l] = true
			return int32(sequence)
		}
	}
	p.batches = append(p.batches, sentBatch{sentTo: map[*leadership]bool{l: true}})
	return int32(len(p.batches) - 1)
}

// timestamp of the records of a sequence, so that a lookup by time has one answer for each producer.
func (p *producer) timestamp(sequence int32) int64 { return 1_000_000 + int64(sequence)*10 + p.id }

func (p *producer) value(sequence int32) string {
	return fmt.Sprintf("producer %d sequence %d", p.id, sequence)
}

// key of the records of a sequence: what compaction leaves is the newest of each.
func (p *producer) key(sequence int32) string {
	return fmt.Sprintf("key %d", sequence%2)
}

func (p *producer) batch(sequence int32) batch.Batch {
	builder := batch.NewBuilder()
	if !p.plain {
		builder.ProducerID, builder.ProducerEpoch, builder.BaseSequence = p.id, 0, sequence
	}
	builder.Add(p.timestamp(sequence), []byte(p.key(sequence)), []byte(p.value(sequence)))
	b, err := builder.Build()
	if err != nil {
		return nil // one record without compression: Build has no reason to fail, and Append refuses nil
	}
	return b
}
