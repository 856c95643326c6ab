package storagetest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage"
)

// Transactional builds a batch of n records that belong to the open transaction of a producer.
func Transactional(t testing.TB, id int64, epoch int16, sequence int32, n int) batch.Batch {
	t.Helper()
	builder := batch.NewBuilder()
	builder.ProducerID, builder.ProducerEpoch, builder.BaseSequence, builder.Transactional = id, epoch, sequence, true
	for range n {
		builder.Add(1000, nil, []byte("t"))
	}
	return built(t, builder)
}

// transactionStep is one event at a partition.
type transactionStep func(s *scene, p *storage.Partition)

// data is a batch of n records in a transaction that its coordinator has confirmed.
func data(id int64, epoch int16, sequence int32, n int) transactionStep {
	return func(s *scene, p *storage.Partition) {
		s.Helper()
		verified, _ := p.Verify(id, epoch)
		s.ok(tryAppendWith(p, Transactional(s, id, epoch, sequence, n), storage.AppendOptions{Verified: verified}))
	}
}

// plain is a batch outside of any transaction, of a producer without an id for -1.
func plain(id int64, sequence int32, n int) transactionStep {
	return func(s *scene, p *storage.Partition) {
		s.Helper()
		if id < 0 {
			s.append(p, "plain", n)
			return
		}
		s.ok(tryAppend(p, Sequenced(s, id, 0, sequence, n)))
	}
}

// refused is a batch that is not taken.
func refused(want error, b func(s *scene) batch.Batch) transactionStep {
	return func(s *scene, p *storage.Partition) {
		s.Helper()
		s.want(tryAppend(p, b(s)), want)
	}
}

// ends is a marker without identity.
func ends(id int64, epoch int16, commit bool) transactionStep {
	return marks(storage.MarkerAppend{ProducerID: id, Epoch: epoch, Marker: batch.Marker{Commit: commit, CoordinatorEpoch: 3}}, false)
}

func decided(id int64, epoch int16, commit bool, identity int64, duplicate bool) transactionStep {
	m := batch.Marker{Commit: commit, CoordinatorEpoch: 3, Identity: identity, HasIdentity: true}
	return marks(storage.MarkerAppend{ProducerID: id, Epoch: epoch, Marker: m}, duplicate)
}

func marks(m storage.MarkerAppend, duplicate bool) transactionStep {
	return func(s *scene, p *storage.Partition) {
		s.Helper()
		end := p.Offsets().LogEnd
		ticket, err := p.AppendMarker(m)
		s.ok(err)
		s.ok(ticket.WaitDurable(context.Background()))
		r := ticket.Result()
		if r.Duplicate != duplicate || !duplicate && r.BaseOffset != end || duplicate && p.Offsets().LogEnd != end {
			s.Fatalf("marker: %+v at log end %d", r, end)
		}
	}
}

func refusedMarker(id int64, epoch int16, want error) transactionStep {
	return func(s *scene, p *storage.Partition) {
		s.Helper()
		_, err := p.AppendMarker(storage.MarkerAppend{ProducerID: id, Epoch: epoch})
		s.want(err, want)
	}
}

// stable checks the last stable offset.
func stable(want int64) transactionStep {
	return func(s *scene, p *storage.Partition) {
		s.Helper()
		if got := p.Offsets().LastStable; got != want {
			s.Fatalf("last stable offset %d, want %d", got, want)
		}
	}
}

// aborted checks the aborted transactions of a range, as producer id, first offset and marker.
func aborted(from, to int64, want ...[3]int64) transactionStep {
	return func(s *scene, p *storage.Partition) {
		s.Helper()
		found, err := p.AbortedIn(from, to)
		s.ok(err)
		var got [][3]int64
		for _, a := range found {
			got = append(got, [3]int64{a.ProducerID, a.FirstOffset, a.LastOffset})
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			s.Fatalf("aborted in [%d, %d): %v, want %v", from, to, got, want)
		}
	}
}

// producer checks the state of one producer.
func producer(want storage.ProducerState) transactionStep {
	return func(s *scene, p *storage.Partition) {
		s.Helper()
		got, found := p.Producer(want.ID)
		if got.LastSeen = 0; !found || got != want {
			s.Fatalf("producers are %+v, want %+v", p.Producers(), want)
		}
	}
}

func deleteTo(offset int64) transactionStep {
	return func(s *scene, p *storage.Partition) {
		s.Helper()
		_, err := p.DeleteRecords(context.Background(), offset)
		s.ok(err)
	}
}

// transactionScripts run four times each, long ones once: as they are, in segments of one batch, and with a takeover and a handover after each step.
func transactionScripts() map[string][]transactionStep {
	invalid, old, gap := storage.ErrInvalidTransaction, storage.ErrProducerEpoch, storage.ErrOutOfOrderSequence
	transactional := func(id int64, epoch int16, sequence int32) func(*scene) batch.Batch {
		return func(s *scene) batch.Batch { return Transactional(s, id, epoch, sequence, 1) }
	}
	sequenced := func(id int64, epoch int16, sequence int32) func(*scene) batch.Batch {
		return func(s *scene) batch.Batch { return Sequenced(s, id, epoch, sequence, 1) }
	}
	return map[string][]transactionStep{
		"commit": {plain(-1, 0, 2), data(1, 0, 0, 3), stable(2), plain(-1, 0, 1), stable(2), data(1, 0, 3, 1), ends(1, 0, true), stable(8), aborted(0, 8)},
		"abort": {
			plain(-1, 0, 2), data(1, 0, 0, 3), ends(1, 0, false), stable(6), aborted(0, 6, [3]int64{1, 2, 5}), aborted(0, 2), aborted(5, 6, [3]int64{1, 2, 5}),
			plain(-1, 0, 1), aborted(6, 7), stable(7),
		},
		"the earliest open transaction counts": {
			data(1, 0, 0, 1), data(2, 0, 0, 1), ends(2, 0, false), stable(0), data(2, 0, 1, 1), ends(1, 0, false), stable(3), ends(2, 0, true), stable(6),
			aborted(0, 6, [3]int64{2, 1, 2}, [3]int64{1, 0, 4}), aborted(3, 4, [3]int64{1, 0, 4}),
		},
		"the sequence goes on over transactions": {
			data(1, 0, 0, 2), ends(1, 0, true), refused(gap, sequenced(1, 0, 0+3)), data(1, 0, 2, 1), ends(1, 0, false), plain(1, 3, 1), stable(6),
		},
		"a raised epoch by the marker": {
			data(1, 0, 0, 2), ends(1, 1, false), refused(old, transactional(1, 0, 2)), refused(gap, sequenced(1, 1, 2)), data(1, 1, 0, 1), stable(3),
			producer(storage.ProducerState{ID: 1, Epoch: 1, LastSequence: 0, LastOffset: 3, CoordinatorEpoch: 3, TransactionStart: 3, MarkerIdentity: -1}),
			ends(1, 1, true), stable(5), aborted(0, 5, [3]int64{1, 0, 2}),
		},
		"a raised epoch in an open transaction": {data(1, 0, 0, 1), data(1, 1, 0, 1), stable(0), ends(1, 1, false), aborted(0, 3, [3]int64{1, 0, 2}), stable(3)},
		"a marker of an unknown producer": {
			ends(1, 4, true), stable(1), aborted(0, 1), refused(old, sequenced(1, 3, 0)), refused(gap, sequenced(1, 4, 7)), plain(-1, 0, 1),
			producer(storage.ProducerState{ID: 1, Epoch: 4, LastSequence: -1, LastOffset: -1, CoordinatorEpoch: 3, TransactionStart: -1, MarkerIdentity: -1}),
		},
		"an abort of nothing is in no list":            {data(1, 0, 0, 1), ends(1, 0, true), ends(1, 0, false), aborted(0, 3), stable(3)},
		"a marker of a lower epoch":                    {data(1, 2, 0, 1), refusedMarker(1, 1, old), stable(0)},
		"a plain batch in a transaction":               {data(1, 0, 0, 1), refused(invalid, sequenced(1, 0, 1)), ends(1, 0, true), plain(1, 1, 1)},
		"a plain batch of a raised epoch in one":       {data(1, 0, 0, 1), refused(invalid, sequenced(1, 1, 0)), ends(1, 0, true)},
		"not verified":                                 {refused(invalid, transactional(1, 0, 0)), data(1, 0, 0, 1), ends(1, 0, true), refused(invalid, transactional(1, 0, 1)), stable(2)},
		"not verified and out of order":                {plain(1, 0, 1), refused(invalid, transactional(1, 0, 5))},
		"not verified at the raised epoch":             {data(1, 0, 0, 1), refused(invalid, transactional(1, 1, 0)), stable(0)},
		"open here needs no verification":              {data(1, 0, 0, 1), func(s *scene, p *storage.Partition) { s.ok(tryAppend(p, Transactional(s, 1, 0, 1, 1))) }, stable(0)},
		"a retry of a batch of a decided one":          {data(1, 0, 0, 1), ends(1, 0, true), func(s *scene, p *storage.Partition) { s.ok(tryAppend(p, Transactional(s, 1, 0, 0, 1))) }, stable(2)},
		"a marker again":                               {data(1, 0, 0, 1), decided(1, 0, false, 10, false), decided(1, 0, false, 10, true), decided(1, 0, true, 4, true), stable(2)},
		"a marker again after the next one began":      {data(1, 0, 0, 1), decided(1, 0, true, 10, false), data(1, 0, 1, 1), decided(1, 0, true, 10, true), stable(2), decided(1, 0, false, 11, false), stable(4)},
		"an administrator's abort does not count":      {data(1, 0, 0, 1), ends(1, 0, false), decided(1, 0, false, 0, false), decided(1, 0, false, 0, true), ends(1, 0, false), stable(4)},
		"a duplicate at a lower epoch":                 {data(1, 0, 0, 1), decided(1, 1, false, 5, false), decided(1, 0, false, 5, true)},
		"records of an open transaction are deleted":   {data(1, 0, 0, 3), plain(-1, 0, 2), deleteTo(1), stable(1), deleteTo(5), stable(5), plain(-1, 0, 1), stable(5), ends(1, 0, false), stable(7)},
		"records of an aborted transaction deleted":    {data(1, 0, 0, 3), data(2, 0, 0, 1), ends(1, 0, false), ends(2, 0, false), plain(-1, 0, 1), deleteTo(1), aborted(0, 7, [3]int64{1, 0, 4}, [3]int64{2, 3, 5}), deleteTo(5), aborted(5, 7, [3]int64{2, 3, 5}), deleteTo(6), aborted(0, 7)},
		"many aborted":                                 manyAborted(150),
		"an open transaction over many other segments": append(append([]transactionStep{data(777, 0, 0, 1)}, manyAborted(10)...), stable(0), ends(777, 0, false), aborted(0, 1, [3]int64{777, 0, 21})),
	}
}

func manyAborted(n int) []transactionStep {
	var steps []transactionStep
	for i := range n {
		steps = append(steps, data(int64(i), 0, 0, 1), ends(int64(i), 0, i%3 == 0))
	}
	return steps
}

func transactionTests() []test {
	var tests []test
	for name, steps := range transactionScripts() {
		for _, way := range []struct {
			name    string
			segment int64
			between func(s *scene, p *storage.Partition) *storage.Partition
		}{
			{"", 0, nil},
			{", small segments", 1, nil},
			{", taken over between", 200, (*scene).again},
			{", handed over between", 1, (*scene).handedOver},
		} {
			if way.name != "" && len(steps) > 100 {
				continue
			}
			tests = append(tests, test{name: name + way.name, run: func(s *scene) {
				if way.segment > 0 {
					s.config.SegmentBytes = way.segment
				}
				s.script(steps, way.between)
			}})
		}
	}
	return append(tests, verificationTests()...)
}

func (s *scene) script(steps []transactionStep, between func(*scene, *storage.Partition) *storage.Partition) {
	s.Helper()
	p := s.take()
	for i, step := range steps {
		step(s, p)
		if between != nil {
			p = between(s, p)
		}
		if len(steps) > 100 && i < len(steps)-1 {
			continue
		}
		if err := CheckTransactions(p); err != nil {
			s.Fatalf("after step %d: %v", i, err)
		}
	}
	p = s.again(s.handedOver(p))
	if err := CheckTransactions(p); err != nil {
		s.Fatalf("at the end: %v", err)
	}
}

func tryAppendWith(p *storage.Partition, b batch.Batch, o storage.AppendOptions) error {
	ticket, err := p.Append(b, o)
	return errors.Join(err, ticket.WaitDurable(context.Background()))
}
