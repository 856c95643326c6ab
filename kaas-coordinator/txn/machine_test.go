package txn_test

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/kaas-rs/kaas/kaas-coordinator/txn"
)

// codes are Kafka's, as its coordinator answers.
var codes = map[error]string{
	txn.ErrInvalidRequest: "42", txn.ErrInvalidProducerEpoch: "47", txn.ErrInvalidState: "48", txn.ErrInvalidProducerIDMapping: "49",
	txn.ErrInvalidTimeout: "50", txn.ErrConcurrentTransactions: "51", txn.ErrProducerFenced: "90", txn.ErrNotFound: "105",
	txn.ErrProducerIDNeeded: "id",
}

// at is a moment: 2000 ms after 1970, at offset 77.
func at() txn.Moment { return txn.Moment{Now: time.UnixMilli(2000), Next: 77} }

func of(topic string, partition int32) txn.Partition {
	return txn.Partition{Topic: topic, Partition: partition}
}

// in is producer 7 with epoch 5, which was 4, in a state.
func in(state txn.State) txn.Transaction {
	t := txn.Transaction{
		Producer: txn.Producer{ID: 7, Epoch: 5}, LastProducerID: 7, LastEpoch: 4, Timeout: time.Second, State: state, Start: 500, Updated: 600, Identity: -1,
	}
	switch state {
	case txn.Empty:
		t.Start = -1
	case txn.Ongoing:
		t.Partitions, t.Groups = []txn.Partition{of("t", 0), of("t", 1)}, []string{"g"}
	case txn.PrepareCommit, txn.PrepareAbort:
		t.Partitions, t.Groups, t.Identity = []txn.Partition{of("t", 0), of("t", 1)}, []string{"g"}, 33
	default:
	}
	return t
}

// told is a step as the tables write it: the code of a refusal, then the next state and epoch if it changed, or else "ok".
func told(s txn.Step) string {
	var text string
	if s.Refusal != nil {
		text = codes[s.Refusal]
	}
	if s.Changed {
		if text != "" {
			text += " "
		}
		text += fmt.Sprintf("%v %d", s.Next.State, s.Next.Producer.Epoch)
	}
	if text == "" {
		return "ok"
	}
	return text
}

type request func(txn.Transaction) txn.Step

func registering(id int64, epoch int16) request {
	return func(t txn.Transaction) txn.Step {
		return t.Register(txn.Registration{Timeout: 9 * time.Second, Expected: txn.Producer{ID: id, Epoch: epoch}}, -1, at())
	}
}

func adding(id int64, epoch int16, partitions []txn.Partition, groups ...string) request {
	return func(t txn.Transaction) txn.Step {
		return t.Add(txn.Producer{ID: id, Epoch: epoch}, partitions, groups, at())
	}
}

func verifying(id int64, epoch int16, partition int32) request {
	return func(t txn.Transaction) txn.Step {
		results, err := t.Verify(txn.Producer{ID: id, Epoch: epoch}, []txn.Partition{of("t", partition)})
		if err == nil {
			err = results[0]
		}
		return txn.Step{Next: t, Refusal: err}
	}
}

func verifyingGroup(id int64, epoch int16, group string) request {
	return func(t txn.Transaction) txn.Step {
		return txn.Step{Next: t, Refusal: t.VerifyGroup(txn.Producer{ID: id, Epoch: epoch}, group)}
	}
}

func ending(id int64, epoch int16, commit bool) request {
	return func(t txn.Transaction) txn.Step { return t.End(txn.Producer{ID: id, Epoch: epoch}, commit, at()) }
}

// TestEveryRequestInEveryState has the answers of Kafka 3.7.2 (TransactionCoordinator), the one named in the comment excepted.
func TestEveryRequestInEveryState(t *testing.T) {
	states := []txn.State{txn.Empty, txn.Ongoing, txn.PrepareCommit, txn.PrepareAbort, txn.CompleteCommit, txn.CompleteAbort}
	known, more := []txn.Partition{of("t", 1)}, []txn.Partition{of("t", 1), of("u", 0)}
	cases := []struct {
		name    string
		request request
		want    [6]string // by state, in the order above
	}{
		{"register", registering(-1, -1), [6]string{"Empty 6", "51 PrepareAbort 6", "51", "51", "Empty 6", "Empty 6"}},
		{"register as oneself", registering(7, 5), [6]string{"Empty 6", "51 PrepareAbort 6", "51", "51", "Empty 6", "Empty 6"}},
		// Kafka aborts an Ongoing transaction (51) whoever of the producer id asks.
		{"register again", registering(7, 4), [6]string{"Empty 5", "90", "51", "51", "Empty 5", "Empty 5"}},
		{"register as replaced", registering(7, 3), [6]string{"90", "90", "51", "51", "90", "90"}},
		{"register from the future", registering(7, 6), [6]string{"90", "90", "51", "51", "90", "90"}},
		{"register as another", registering(8, 5), [6]string{"90", "90", "90", "90", "90", "90"}},

		{"add", adding(7, 5, more), [6]string{"Ongoing 5", "Ongoing 5", "51", "51", "Ongoing 5", "Ongoing 5"}},
		{"add what is there", adding(7, 5, known), [6]string{"Ongoing 5", "ok", "51", "51", "Ongoing 5", "Ongoing 5"}},
		{"add nothing", adding(7, 5, nil), [6]string{"Ongoing 5", "ok", "51", "51", "Ongoing 5", "Ongoing 5"}},
		{"add a group", adding(7, 5, nil, "h"), [6]string{"Ongoing 5", "Ongoing 5", "51", "51", "Ongoing 5", "Ongoing 5"}},
		{"add the group that is there", adding(7, 5, nil, "g"), [6]string{"Ongoing 5", "ok", "51", "51", "Ongoing 5", "Ongoing 5"}},
		{"add as replaced", adding(7, 4, more), [6]string{"90", "90", "90", "90", "90", "90"}},
		{"add from the future", adding(7, 6, more), [6]string{"90", "90", "90", "90", "90", "90"}},
		{"add as another", adding(8, 5, more), [6]string{"49", "49", "49", "49", "49", "49"}},

		{"verify", verifying(7, 5, 0), [6]string{"48", "ok", "51", "51", "48", "48"}},
		{"verify what is not there", verifying(7, 5, 9), [6]string{"48", "48", "51", "51", "48", "48"}},
		{"verify as replaced", verifying(7, 4, 0), [6]string{"90", "90", "90", "90", "90", "90"}},
		{"verify from the future", verifying(7, 6, 0), [6]string{"90", "90", "90", "90", "90", "90"}},
		{"verify as another", verifying(8, 5, 0), [6]string{"49", "49", "49", "49", "49", "49"}},
		{"verify the group", verifyingGroup(7, 5, "g"), [6]string{"48", "ok", "51", "51", "48", "48"}},
		{"verify another group", verifyingGroup(7, 5, "h"), [6]string{"48", "48", "51", "51", "48", "48"}},
		{"verify the group as replaced", verifyingGroup(7, 4, "g"), [6]string{"90", "90", "90", "90", "90", "90"}},
		{"verify the group as another", verifyingGroup(8, 5, "g"), [6]string{"49", "49", "49", "49", "49", "49"}},

		{"commit", ending(7, 5, true), [6]string{"48", "PrepareCommit 5", "51", "48", "ok", "48"}},
		{"abort", ending(7, 5, false), [6]string{"48", "PrepareAbort 5", "48", "51", "48", "ok"}},
		{"commit as replaced", ending(7, 4, true), [6]string{"90", "90", "90", "90", "90", "90"}},
		{"commit from the future", ending(7, 6, true), [6]string{"90", "90", "90", "90", "90", "90"}},
		{"abort as replaced", ending(7, 4, false), [6]string{"90", "90", "90", "90", "90", "90"}},
		{"commit as another", ending(8, 5, true), [6]string{"49", "49", "49", "49", "49", "49"}},

		{
			"time out",
			func(t txn.Transaction) txn.Step { return t.Fence(at()) },
			[6]string{"48", "PrepareAbort 6", "48", "48", "48", "48"},
		},
		{
			"markers placed",
			func(t txn.Transaction) txn.Step { return t.Complete(at()) },
			[6]string{"48", "48", "CompleteCommit 5", "CompleteAbort 5", "48", "48"},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for i, state := range states {
				before := in(state)
				step := c.request(before)
				if got := told(step); got != c.want[i] {
					t.Errorf("in %v: %s, want %s", state, got, c.want[i])
				}
				if !reflect.DeepEqual(before, in(state)) {
					t.Errorf("in %v: the step changed what it was made from: %+v", state, before)
				}
				if !step.Changed && !reflect.DeepEqual(step.Next, before) {
					t.Errorf("in %v: changed without saying so: %+v", state, step.Next)
				}
			}
		})
	}
}

func TestWhatStepsLeave(t *testing.T) {
	id := uuid.New()
	now := at().Now.UnixMilli()
	cases := []struct {
		name string
		step txn.Step
		want func() txn.Transaction
	}{
		{"first registration", txn.New().Register(txn.Registration{Timeout: time.Minute, Expected: txn.NoProducer()}, 9, at()), func() txn.Transaction {
			return txn.Transaction{Producer: txn.Producer{ID: 9}, LastProducerID: -1, LastEpoch: -1, Timeout: time.Minute, Start: -1, Updated: now, Identity: -1}
		}},
		{"first with a past", txn.New().Register(txn.Registration{Timeout: time.Minute, Expected: txn.Producer{ID: 3, Epoch: 8}}, 9, at()), func() txn.Transaction {
			return txn.Transaction{Producer: txn.Producer{ID: 9}, LastProducerID: -1, LastEpoch: -1, Timeout: time.Minute, Start: -1, Updated: now, Identity: -1}
		}},
		{"registration", registering(-1, -1)(in(txn.CompleteAbort)), func() txn.Transaction {
			return txn.Transaction{Producer: txn.Producer{ID: 7, Epoch: 6}, LastProducerID: 7, LastEpoch: -1, Timeout: 9 * time.Second, Start: -1, Updated: now, Identity: -1}
		}},
		{"registration as oneself", registering(7, 5)(in(txn.CompleteCommit)), func() txn.Transaction {
			return txn.Transaction{Producer: txn.Producer{ID: 7, Epoch: 6}, LastProducerID: 7, LastEpoch: 5, Timeout: 9 * time.Second, Start: -1, Updated: now, Identity: -1}
		}},
		{"begin", in(txn.CompleteAbort).Add(txn.Producer{ID: 7, Epoch: 5}, []txn.Partition{of("t", 2), of("t", 1), of("t", 2), {Topic: "t", TopicID: id, Partition: 1}}, []string{"g", "g"}, at()), func() txn.Transaction {
			want := in(txn.CompleteAbort)
			want.State, want.Start, want.Updated = txn.Ongoing, now, now
			want.Partitions, want.Groups = []txn.Partition{of("t", 1), of("t", 2), {Topic: "t", TopicID: id, Partition: 1}}, []string{"g"}
			return want
		}},
		{"go on", in(txn.Ongoing).Add(txn.Producer{ID: 7, Epoch: 5}, []txn.Partition{of("a", 2)}, []string{"a"}, at()), func() txn.Transaction {
			want := in(txn.Ongoing)
			want.Updated = now
			want.Partitions, want.Groups = []txn.Partition{of("a", 2), of("t", 0), of("t", 1)}, []string{"a", "g"}
			return want
		}},
		{"decide", ending(7, 5, true)(in(txn.Ongoing)), func() txn.Transaction {
			want := in(txn.Ongoing)
			want.State, want.Updated, want.Identity = txn.PrepareCommit, now, 77
			return want
		}},
		{"fence", in(txn.Ongoing).Fence(at()), func() txn.Transaction {
			want := in(txn.Ongoing)
			want.State, want.Updated, want.Identity, want.Producer.Epoch, want.LastEpoch = txn.PrepareAbort, now, 77, 6, -1
			return want
		}},
		{"complete", in(txn.PrepareAbort).Complete(at()), func() txn.Transaction {
			want := in(txn.CompleteAbort)
			want.Updated = now
			return want
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			want := c.want()
			if !c.step.Changed || !reflect.DeepEqual(c.step.Next, want) {
				t.Errorf("got  %+v\nwant %+v", c.step.Next, want)
			}
		})
	}
}

// TestRegistrations follows producers through several steps. In each line: who asks as whom, the id that is fresh, and what comes of it.
func TestRegistrations(t *testing.T) {
	type line struct {
		as    txn.Producer
		fresh int64
		want  string
		is    txn.Producer // afterwards
	}
	none := txn.NoProducer()
	p := func(id int64, epoch int16) txn.Producer { return txn.Producer{ID: id, Epoch: epoch} }
	last := int16(math.MaxInt16 - 1)
	cases := []struct {
		name  string
		from  txn.Transaction
		lines []line
	}{
		{"the first needs an id", txn.New(), []line{
			{none, -1, "id", none}, {none, 1, "Empty 0", p(1, 0)}, {none, -1, "Empty 1", p(1, 1)},
		}},
		{"recovery is repeated", txn.New(), []line{
			{none, 1, "Empty 0", p(1, 0)},
			{p(1, 0), -1, "Empty 1", p(1, 1)},
			{p(1, 0), -1, "Empty 1", p(1, 1)},
			{p(1, 0), -1, "Empty 1", p(1, 1)},
			{p(1, 1), -1, "Empty 2", p(1, 2)},
			{p(1, 0), -1, "90", p(1, 2)},
		}},
		{"another instance ends repetition", txn.New(), []line{
			{none, 1, "Empty 0", p(1, 0)},
			{p(1, 0), -1, "Empty 1", p(1, 1)},
			{none, -1, "Empty 2", p(1, 2)},
			{p(1, 0), -1, "90", p(1, 2)},
			{p(1, 1), -1, "90", p(1, 2)},
		}},
		{"who was forgotten gets a new id", txn.New(), []line{
			{p(5, 3), -1, "id", none}, {p(5, 3), 9, "Empty 0", p(9, 0)}, {p(5, 3), -1, "90", p(9, 0)},
		}},
		{"epochs run out", txn.Transaction{Producer: p(1, last-1), LastProducerID: 1, LastEpoch: -1}, []line{
			{none, -1, "Empty 32766", p(1, last)}, {none, -1, "id", p(1, last)}, {none, 2, "Empty 0", p(2, 0)}, {p(1, last), -1, "90", p(2, 0)},
		}},
		{"epochs run out while recovering", txn.Transaction{Producer: p(1, last-1), LastProducerID: 1, LastEpoch: -1}, []line{
			{p(1, last-1), -1, "Empty 32766", p(1, last)},
			// Kafka fails with -1 here, as it does for every wrong epoch beside an exhausted one.
			{p(1, last-1), -1, "Empty 32766", p(1, last)},
			{p(1, last-2), -1, "90", p(1, last)},
			{p(1, last), -1, "id", p(1, last)},
			{p(1, last), 2, "Empty 0", p(2, 0)},
			// The producer did not hear of its new id. Kafka grants this once.
			{p(1, last), -1, "Empty 0", p(2, 0)},
			{p(1, last), -1, "Empty 0", p(2, 0)},
			{p(2, 0), -1, "Empty 1", p(2, 1)},
			{p(1, last), -1, "90", p(2, 1)},
		}},
		{"the last epoch is for fencing", txn.Transaction{Producer: p(1, last), LastProducerID: 1, LastEpoch: -1, State: txn.Ongoing}, []line{
			{none, -1, "51 PrepareAbort 32767", p(1, last+1)}, {none, -1, "51", p(1, last+1)},
		}},
		{"after fencing with the last", txn.Transaction{Producer: p(1, last+1), LastProducerID: 1, LastEpoch: -1, State: txn.CompleteAbort}, []line{
			{p(1, last), -1, "90", p(1, last+1)}, {none, 2, "Empty 0", p(2, 0)},
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			now := c.from
			for i, l := range c.lines {
				step := now.Register(txn.Registration{Timeout: time.Minute, Expected: l.as}, l.fresh, at())
				if got := told(step); got != l.want || step.Next.Producer != l.is {
					t.Fatalf("line %d: %s %+v, want %s %+v", i+1, got, step.Next.Producer, l.want, l.is)
				}
				now = step.Next
			}
		})
	}
}

func TestVerifyWithTopicIDs(t *testing.T) {
	first, second := uuid.New(), uuid.New()
	open := in(txn.Ongoing)
	open.Partitions = []txn.Partition{{Topic: "t", TopicID: first}}
	results, err := open.Verify(open.Producer, []txn.Partition{
		{Topic: "t", TopicID: first}, {Topic: "t", TopicID: second}, {Topic: "t"}, {Topic: "t", TopicID: first, Partition: 1}, {Topic: "u"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []error{nil, txn.ErrInvalidState, nil, txn.ErrInvalidState, txn.ErrInvalidState} {
		if !errors.Is(results[i], want) {
			t.Errorf("partition %d: %v, want %v", i, results[i], want)
		}
	}
}

func TestExpiry(t *testing.T) {
	for state, may := range map[txn.State]bool{
		txn.Empty: true, txn.Ongoing: false, txn.PrepareCommit: false, txn.PrepareAbort: false, txn.CompleteCommit: true, txn.CompleteAbort: true,
	} {
		idle := in(state) // changed at 600 ms
		for ms, want := range map[int64]bool{1599: false, 1600: true} {
			if got := idle.IsExpired(time.UnixMilli(ms), time.Second); got != (want && may) {
				t.Errorf("%v is expired at %d: %v", state, ms, got)
			}
		}
	}
}
