package api_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/internal/api"
	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
	"github.com/kaas-rs/kaas/kaas-broker/internal/ownership"
	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-coordinator"
	"github.com/kaas-rs/kaas/kaas-protocol"
	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// hungBench is a bench whose file syncs hang until goOn.
func hungBench(t testing.TB, choose ...func(*setup)) (b *bench, goOn func()) {
	t.Helper()
	var hangs atomic.Bool
	hung := make(chan struct{})
	b = newBench(t, append(choose, func(s *setup) {
		s.fs = vfs.NewFault(s.fs, func(op vfs.Op) error {
			if hangs.Load() && op.Kind == vfs.OpSync && !op.After {
				<-hung
			}
			return nil
		})
	})...)
	hangs.Store(true)
	return b, func() { close(hung) }
}

// unavailable has partitions that cannot be taken over.
type unavailable struct{ api.Partitions }

func (unavailable) Partition(*catalog.Topic, int32) (*storage.Partition, error) {
	return nil, fmt.Errorf("%w: %w", ownership.ErrUnavailable, errors.New("disk is gone"))
}

func (u unavailable) Await(_ context.Context, t *catalog.Topic, i int32) (*storage.Partition, error) {
	return u.Partition(t, i)
}

// takingOver has partitions whose takeover never ends.
type takingOver struct{ api.Partitions }

func (takingOver) Partition(*catalog.Topic, int32) (*storage.Partition, error) {
	return nil, ownership.ErrTakingOver
}

func (takingOver) Await(ctx context.Context, _ *catalog.Topic, _ int32) (*storage.Partition, error) {
	<-ctx.Done()
	return nil, ownership.ErrTakingOver
}

// takenMeanwhile has partitions whose takeover ends after the first look at them.
type takenMeanwhile struct {
	api.Partitions
	looked *bool
}

func (p takenMeanwhile) Partition(t *catalog.Topic, i int32) (*storage.Partition, error) {
	if !*p.looked {
		*p.looked = true
		return nil, ownership.ErrTakingOver
	}
	return p.Partitions.Partition(t, i)
}

// ledAnewMeanwhile has partitions whose leadership is another one after the first look at them: the first partition that is looked for is next from then on.
type ledAnewMeanwhile struct {
	api.Partitions
	looked *bool
	next   *catalog.Topic
}

func (p *ledAnewMeanwhile) Partition(t *catalog.Topic, i int32) (*storage.Partition, error) {
	if *p.looked && p.next != nil {
		t = p.next
	}
	*p.looked = true
	return p.Partitions.Partition(t, i)
}

// delivery places markers in the partitions of a bench.
type delivery struct{ bench *bench }

func (d delivery) Deliver(ctx context.Context, m coordinator.Marker, to []coordinator.TransactionPartition) []error {
	errs := make([]error, len(to))
	for i, at := range to {
		topic, known := d.bench.catalog.Snapshot().ByID(at.TopicID)
		if !known {
			continue
		}
		p, err := d.bench.partitions.Partition(topic, at.Partition)
		if err == nil {
			var ticket storage.Ticket
			ticket, err = p.AppendMarker(storage.MarkerAppend{
				ProducerID: m.ProducerID, Epoch: m.ProducerEpoch,
				Marker: batch.Marker{Commit: m.Commit, CoordinatorEpoch: m.CoordinatorEpoch, Identity: m.Identity, HasIdentity: true},
			})
			if err == nil {
				err = ticket.WaitDurable(ctx)
			}
		}
		errs[i] = err
	}
	return errs
}

// sometimes is a coordinator that verifies when err is nil.
type sometimes struct {
	api.Transactions
	err *error
}

func (s sometimes) VerifyPartitions(
	ctx context.Context, id string, p coordinator.Producer, partitions []coordinator.TransactionPartition,
) ([]error, error) {
	if *s.err != nil {
		return nil, *s.err
	}
	return s.Transactions.VerifyPartitions(ctx, id, p, partitions)
}

// withoutType refuses everything about resources of one type.
type withoutType kmsg.ACLResourceType

func (w withoutType) Authorize(_ *protocol.Conn, _ kmsg.ACLOperation, resource kmsg.ACLResourceType, _ string) bool {
	return resource != kmsg.ACLResourceType(w)
}

// writeOnly lets everybody write and nobody read or describe.
type writeOnly struct{}

func (writeOnly) Authorize(_ *protocol.Conn, operation kmsg.ACLOperation, _ kmsg.ACLResourceType, _ string) bool {
	return operation == kmsg.ACLOperationWrite
}

// denied refuses everything about topics of these names.
type denied map[string]bool

func (d denied) Authorize(_ *protocol.Conn, _ kmsg.ACLOperation, resource kmsg.ACLResourceType, name string) bool {
	return resource != kmsg.ACLResourceTypeTopic || !d[name]
}
