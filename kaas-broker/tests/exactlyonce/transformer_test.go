package exactlyonce

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

var errLeft = errors.New("left by its own will")

// transformer is a member of the group that copies the input to the output, in one process after the other.
type transformer struct {
	run     *run
	number  int
	random  *rand.Rand
	session *kgo.GroupTransactSession
	inside  atomic.Pointer[client]
}

func (m *transformer) open() {
	inside := newUnlucky(m.run.world, m.random.Uint64(), &m.run.healed)
	session, err := kgo.NewGroupTransactSession(inside.options(
		kgo.DefaultProduceTopic(output), kgo.TransactionalID(fmt.Sprintf("transformer-%d", m.number)),
		kgo.ConsumerGroup(group), kgo.ConsumeTopics(input),
		kgo.SessionTimeout(3*time.Second), kgo.HeartbeatInterval(500*time.Millisecond), kgo.RebalanceTimeout(3*time.Second),
	)...)
	if err != nil {
		m.run.t.Error(err)
		return
	}
	m.session = session
	m.inside.Store(inside)
}

// leave forgets the client: as if its process had crashed, or with a word to the group.
func (m *transformer) leave(politely bool) {
	inside, session := m.inside.Load(), m.session
	m.session = nil
	if !politely {
		inside.crash()
	}
	m.run.background.Go(session.CloseAllowingRebalance)
}

// transform works until the context ends.
func (m *transformer) transform(ctx context.Context) {
	for ctx.Err() == nil {
		if m.session == nil {
			m.open()
		}
		err := m.copy(ctx)
		if m.random.IntN(40) == 0 {
			err = errLeft
		}
		if err != nil && ctx.Err() == nil {
			m.run.failed("transformer", m.number, err)
			m.leave(m.random.IntN(2) == 0)
		}
	}
	if m.session != nil {
		m.leave(true)
	}
}

// copy copies what one poll returns, in one transaction.
func (m *transformer) copy(ctx context.Context) error {
	alive := m.inside.Load().alive
	polling, cancel := context.WithTimeout(alive, 2*time.Second)
	defer cancel()
	stop := context.AfterFunc(ctx, cancel)
	defer stop()
	fetches := m.session.PollRecords(polling, 1+m.random.IntN(20))
	if alive.Err() != nil {
		return context.Cause(alive)
	}
	if fetches.NumRecords() == 0 {
		return nil
	}
	working, cancel := context.WithTimeout(alive, patience)
	defer cancel()
	if err := m.inside.Load().bounded(m.session.Begin); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	var failure atomic.Pointer[error]
	fetches.EachRecord(func(r *kgo.Record) {
		m.session.Produce(working, &kgo.Record{Partition: r.Partition, Key: r.Key, Value: r.Value}, func(_ *kgo.Record, err error) {
			if err != nil {
				failure.Store(&err)
			}
		})
	})
	if err := m.session.Client().Flush(working); err != nil {
		return fmt.Errorf("flush: %w", err)
	}
	if m.random.IntN(10) == 0 {
		time.Sleep(time.Duration(m.random.IntN(m.run.pace)) * time.Millisecond)
	}
	committing := failure.Load() == nil && harness.StillHeld(m.session.Client(), fetches)
	ended, err := m.session.End(working, kgo.TransactionEndTry(committing))
	if err != nil {
		return fmt.Errorf("end: %w", err)
	}
	if ended {
		fetches.EachRecord(func(r *kgo.Record) { m.run.offsets.committed(r.Partition, r.Offset+1) })
	}
	return nil
}
