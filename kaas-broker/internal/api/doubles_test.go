package api_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/internal/api"
	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
	"github.com/kaas-rs/kaas/kaas-broker/internal/ownership"
	"github.com/kaas-rs/kaas/kaas-protocol"
	"github.com/kaas-rs/kaas/kaas-storage"
)

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

// denied refuses everything about topics of these names.
type denied map[string]bool

func (d denied) Authorize(_ *protocol.Conn, _ kmsg.ACLOperation, resource kmsg.ACLResourceType, name string) bool {
	return resource != kmsg.ACLResourceTypeTopic || !d[name]
}
