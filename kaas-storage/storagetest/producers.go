package storagetest

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/kaas-rs/kaas/kaas-storage"
)

// sequenceStep is one append of an idempotent producer and what must come of it.
type sequenceStep struct {
	epoch     int16
	sequence  int32
	n         int
	offset    int64
	duplicate bool
	err       error
}

// sequences are the cases that run twice: in one leadership, and with a takeover after each step.
func sequences() map[string][]sequenceStep {
	return map[string][]sequenceStep{
		"in order":           {{sequence: 0, n: 2}, {sequence: 2, n: 3, offset: 2}},
		"any first sequence": {{sequence: 77, n: 1}, {sequence: 78, n: 1, offset: 1}},
		"gap":                {{sequence: 0, n: 1}, {sequence: 2, n: 1, err: storage.ErrOutOfOrderSequence}},
		"retry of the last":  {{sequence: 0, n: 2}, {sequence: 0, n: 2, duplicate: true}},
		"retry of the fifth": {
			{sequence: 0, n: 1},
			{sequence: 1, n: 1, offset: 1},
			{sequence: 2, n: 1, offset: 2},
			{sequence: 3, n: 1, offset: 3},
			{sequence: 4, n: 1, offset: 4},
			{sequence: 0, n: 1, duplicate: true},
		},
		"retry of the sixth": {
			{sequence: 0, n: 1},
			{sequence: 1, n: 1, offset: 1},
			{sequence: 2, n: 1, offset: 2},
			{sequence: 3, n: 1, offset: 3},
			{sequence: 4, n: 1, offset: 4},
			{sequence: 5, n: 1, offset: 5},
			{sequence: 0, n: 1, err: storage.ErrOutOfOrderSequence},
		},
		"overlap":                   {{sequence: 0, n: 2}, {sequence: 1, n: 2, err: storage.ErrOutOfOrderSequence}},
		"raised epoch begins at 0":  {{sequence: 0, n: 2}, {epoch: 1, sequence: 0, n: 1, offset: 2}},
		"raised epoch in the midst": {{sequence: 0, n: 2}, {epoch: 1, sequence: 2, n: 1, err: storage.ErrOutOfOrderSequence}},
		"lower epoch":               {{epoch: 3, sequence: 0, n: 1}, {epoch: 2, sequence: 1, n: 1, err: storage.ErrProducerEpoch}},
		"wrap":                      {{sequence: math.MaxInt32 - 1, n: 2}, {sequence: 0, n: 1, offset: 2}},
	}
}

func producerTests() []test {
	tests := []test{
		{name: "state outlives the records", run: func(s *scene) {
			p := s.take()
			Append(s, p, Sequenced(s, 1, 0, 0, 5))
			_, err := p.DeleteRecords(context.Background(), -1)
			s.ok(err)
			p = s.handedOver(p)
			s.want(tryAppend(p, Sequenced(s, 1, 0, 7, 1)), storage.ErrOutOfOrderSequence)
			states := p.Producers()
			if len(states) != 1 || states[0].LastSequence != 4 || states[0].LastOffset != 4 {
				s.Fatalf("states: %+v", states)
			}
		}},
		{name: "state expires", virtual: true, run: func(s *scene) {
			p := s.take()
			Append(s, p, Sequenced(s, 1, 0, 0, 1))
			time.Sleep(23 * time.Hour)
			Append(s, p, Sequenced(s, 2, 0, 0, 1))
			time.Sleep(2 * time.Hour)
			s.append(p, "a", 1)
			time.Sleep(time.Minute) // the next recovery point leaves out who has been silent for a day
			if states := p.Producers(); len(states) != 1 || states[0].ID != 2 {
				s.Fatalf("states: %+v", states)
			}
		}},
	}
	for name, steps := range sequences() {
		tests = append(tests,
			test{name: name, run: func(s *scene) { s.sequence(steps, false) }},
			test{name: name + ", taken over between", run: func(s *scene) { s.sequence(steps, true) }})
	}
	return tests
}

func (s *scene) sequence(steps []sequenceStep, takeover bool) {
	s.Helper()
	p := s.take()
	for i, step := range steps {
		ticket, err := p.Append(Sequenced(s, 9, step.epoch, step.sequence, step.n), storage.AppendOptions{})
		if !errors.Is(err, step.err) {
			s.Fatalf("step %d: error %v, want %v", i, err, step.err)
		}
		if err == nil {
			s.ok(ticket.WaitDurable(context.Background()))
			if r := ticket.Result(); r.BaseOffset != step.offset || r.Duplicate != step.duplicate {
				s.Fatalf("step %d: %+v, want offset %d, duplicate %t", i, r, step.offset, step.duplicate)
			}
		}
		if takeover {
			p = s.again(p)
		}
	}
}
