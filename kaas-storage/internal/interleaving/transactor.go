package interleaving

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage"
)

// Transactors of a run.
const (
	transactors     = 2
	firstTransactor = 100 // producer id
)

// transactor is a transactional producer together with its coordinator: it begins a transaction, sends batches to whoever it takes for the leader
// until each is acknowledged, decides, and sends the marker in the same way. Only then does its next transaction begin.
type transactor struct {
	id int64

	mu          sync.Mutex
	number      int64  // of the transaction, and the identity of its marker
	sequence    int32  // next batch
	sent        int    // batches of this transaction that are acknowledged
	outstanding bool   // a batch is sent and not acknowledged
	decided     bool   // the marker may be sent, and is not acknowledged
	commits     []bool // what was decided, by number

	stale     storage.Verification // begun for an earlier transaction, at staleLead
	staleLead *leadership
}

func (t *transactor) value() string { return fmt.Sprintf("%d %d %d", t.id, t.number, t.sequence) }

func (t *transactor) batch(sequence int32, value string) batch.Batch {
	builder := batch.NewBuilder()
	builder.ProducerID, builder.ProducerEpoch, builder.BaseSequence, builder.Transactional = t.id, 0, sequence, true
	builder.Add(1000, []byte("key 0"), []byte(value))
	b, err := builder.Build()
	if err != nil {
		return nil // as producer.batch
	}
	return b
}

// Transact lets a transactor take its next step at the owner's partition and waits until it is durable.
func Transact(number int) Step {
	return Step{fmt.Sprintf("transactor %d goes on", number), func(o *Owner) {
		if wait := o.transact(number); wait != nil {
			wait()
		}
	}}
}

// SendTransact is Transact without waiting.
func SendTransact(number int) Step {
	return Step{fmt.Sprintf("transactor %d sends", number), func(o *Owner) {
		if wait := o.transact(number); wait != nil {
			o.work.Go(wait)
		}
	}}
}

// Repeat sends once more what a transactor's last transaction ended with: the marker again, which ends nothing, and a batch that was verified
// for it, which is not taken.
func Repeat(number int) Step {
	return Step{fmt.Sprintf("transactor %d repeats itself", number), func(o *Owner) {
		if o.lead != nil {
			o.repeat(o.world.transactors[number], o.lead)
		}
	}}
}

func (o *Owner) transact(number int) (wait func()) {
	if o.lead == nil {
		return nil
	}
	t, l := o.world.transactors[number], o.lead
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.decided && !t.outstanding && t.sent > int(t.number)%2 {
		t.decided = true
		t.commits = append(t.commits, (t.number+t.id)%3 == 0)
	}
	if t.decided {
		return o.sendMarker(t, l)
	}
	return o.sendBatch(t, l)
}

// sendBatch is called with the transactor's lock held.
func (o *Owner) sendBatch(t *transactor, l *leadership) (wait func()) {
	t.outstanding = true
	sequence, value := t.sequence, t.value()
	verified, _ := l.partition.Verify(t.id, 0)
	if t.staleLead != l || t.sent == 0 && t.number%2 == 0 {
		t.stale, t.staleLead = verified, l
	}
	ticket, err := l.partition.Append(t.batch(sequence, value), storage.AppendOptions{Verified: verified})
	o.note("transactional append", value, err)
	if err != nil {
		o.world.judge.refusedTransactor(l, t, err)
		return nil
	}
	return func() {
		err := ticket.WaitDurable(context.Background())
		o.note("transactional append ends", value, err)
		if err != nil {
			return
		}
		o.world.judge.acknowledgedTransactor(l, ticket.Result().BaseOffset, value)
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.outstanding && t.sequence == sequence {
			t.outstanding = false
			t.sequence++
			t.sent++
		}
	}
}

func (t *transactor) marker(number int64) storage.MarkerAppend {
	return storage.MarkerAppend{ProducerID: t.id, Marker: batch.Marker{Commit: t.commits[number], Identity: number, HasIdentity: true}}
}

// sendMarker is called with the transactor's lock held.
func (o *Owner) sendMarker(t *transactor, l *leadership) (wait func()) {
	number := t.number
	ticket, err := l.partition.AppendMarker(t.marker(number))
	o.note("marker", strconv.FormatInt(number, 10), err)
	if err != nil {
		o.world.judge.refusedTransactor(l, t, err)
		return nil
	}
	return func() {
		err := ticket.WaitDurable(context.Background())
		o.note("marker ends", strconv.FormatInt(number, 10), err)
		if err != nil {
			return
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.decided && t.number == number {
			t.decided, t.sent = false, 0
			t.number++
		}
	}
}

func (o *Owner) repeat(t *transactor, l *leadership) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.number == 0 {
		return
	}
	ticket, err := l.partition.AppendMarker(t.marker(t.number - 1))
	o.note("marker again", strconv.FormatInt(t.number-1, 10), err)
	if err == nil && !ticket.Result().Duplicate {
		o.world.judge.tookForNew(l, fmt.Sprintf("marker %d of transactor %d", t.number-1, t.id))
	}
	// Between transactions the verification of an earlier one is void, and nobody else confirms it.
	if t.staleLead != l || t.outstanding || t.sent > 0 || t.decided {
		return
	}
	_, err = l.partition.Append(t.batch(t.sequence, "a late batch"), storage.AppendOptions{Verified: t.stale})
	o.note("late batch", "", err)
	if err == nil {
		o.world.judge.tookForNew(l, fmt.Sprintf("late batch of transactor %d", t.id))
	}
}
