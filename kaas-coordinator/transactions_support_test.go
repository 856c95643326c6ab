package coordinator_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kaas-rs/kaas/kaas-coordinator"
)

// producerIDs gives out 1, 2, 3 …
type producerIDs struct{ last atomic.Int64 }

func (p *producerIDs) Next(context.Context) (int64, error) { return p.last.Add(1), nil }

// participants are partitions that keep their markers as the log engine does: one that is not above the last of its producer is ignored.
type participants struct {
	mu     sync.Mutex
	placed map[coordinator.TransactionPartition][]coordinator.Marker
	late   int // ignored
	calls  int
	// before is asked first; an error fails the call for the partition. It may block.
	before func(ctx context.Context, m coordinator.Marker, at coordinator.TransactionPartition) error
}

func newParticipants() *participants {
	return &participants{placed: make(map[coordinator.TransactionPartition][]coordinator.Marker)}
}

func (p *participants) Deliver(ctx context.Context, m coordinator.Marker, to []coordinator.TransactionPartition) []error {
	errs := make([]error, len(to))
	for i, at := range to {
		p.mu.Lock()
		p.calls++
		before := p.before
		p.mu.Unlock()
		if before != nil {
			errs[i] = before(ctx, m, at)
		}
		if errs[i] == nil {
			p.place(m, at)
		}
	}
	return errs
}

func (p *participants) place(m coordinator.Marker, at coordinator.TransactionPartition) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, earlier := range p.placed[at] {
		if earlier.ProducerID == m.ProducerID && m.Identity <= earlier.Identity {
			p.late++
			return
		}
	}
	p.placed[at] = append(p.placed[at], m)
}

func (p *participants) setBefore(before func(context.Context, coordinator.Marker, coordinator.TransactionPartition) error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.before = before
}

// asked is how often a partition was asked for.
func (p *participants) asked() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls
}

// ignored is how many markers came too late.
func (p *participants) ignored() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.late
}

// at returns the markers of a partition.
func (p *participants) at(at coordinator.TransactionPartition) []coordinator.Marker {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.placed[at])
}

// outcomes tells the markers of a partition as C and A.
func (p *participants) outcomes(at coordinator.TransactionPartition) string {
	var outcomes string
	for _, m := range p.at(at) {
		if m.Commit {
			outcomes += "C"
		} else {
			outcomes += "A"
		}
	}
	return outcomes
}

// transactional are options with participants of their own.
func transactional() (coordinator.Options, *participants) {
	p := newParticipants()
	return coordinator.Options{ProducerIDs: &producerIDs{}, Delivery: p}, p
}

// transacting starts a coordinator of the slots of these ids, with participants of its own. It needs a synctest bubble.
func transacting(t testing.TB, ids ...string) (*process, *participants) {
	t.Helper()
	options, parts := transactional()
	return start(t, prepared(t), options, ids...), parts
}

func partitionOf(topic string, partition int32) coordinator.TransactionPartition {
	return coordinator.TransactionPartition{Topic: topic, Partition: partition}
}

// nobodyYet registers without saying who it was.
func nobodyYet() coordinator.InitProducer {
	return coordinator.InitProducer{Timeout: time.Minute, Producer: coordinator.Producer{ID: -1, Epoch: -1}}
}

// register registers a producer until no earlier transaction is in the way. It needs a synctest bubble.
func (p *process) register(id string) coordinator.Producer {
	p.t.Helper()
	for range patience {
		producer, err := p.InitProducerID(context.Background(), id, nobodyYet())
		if err == nil {
			return producer
		}
		wants(p.t, err, coordinator.ErrConcurrentTransactions)
		time.Sleep(20 * time.Millisecond)
	}
	p.t.Fatalf("%s is not completed", id)
	return coordinator.Producer{}
}

// patience is how often a test asks again, of what takes seconds at most.
const patience = 1000

// stageAs stages one offset of a group as nobody in particular.
func (p *process) stageAs(txnID, groupID string, producer coordinator.Producer, o coordinator.CommitOffset) error {
	results, err := p.StageOffsets(context.Background(), groupID, coordinator.StageRequest{
		TransactionalID: txnID, Producer: producer, Identity: nobody(), Offsets: []coordinator.CommitOffset{o},
	})
	if err != nil {
		return err
	}
	return results[0]
}

// state describes a transaction.
func (p *process) state(id string) coordinator.TransactionDescription {
	p.t.Helper()
	d, err := p.DescribeTransaction(context.Background(), id)
	must(p.t, err)
	return d
}

// begin begins a transaction of a registered producer when the last one is complete.
func (p *process) begin(id, groupID string, producer coordinator.Producer, at coordinator.TransactionPartition) {
	p.t.Helper()
	ctx := context.Background()
	var err error
	for range patience {
		if err = p.AddPartitions(ctx, id, producer, []coordinator.TransactionPartition{at}); err == nil {
			break
		}
		wants(p.t, err, coordinator.ErrConcurrentTransactions)
		time.Sleep(20 * time.Millisecond)
	}
	must(p.t, err)
	if groupID != "" {
		must(p.t, p.AddOffsets(ctx, id, producer, groupID))
	}
}

var errUnreachable = errors.New("partition is not reachable")

func isUnreachable(context.Context, coordinator.Marker, coordinator.TransactionPartition) error {
	return errUnreachable
}
