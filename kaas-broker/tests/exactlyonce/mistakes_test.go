package exactlyonce

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-coordinator"
	"github.com/kaas-rs/kaas/kaas-protocol"
)

// mistake is something that a broker does wrong.
type mistake struct {
	api      func(protocol.API) protocol.API
	delivery func(coordinator.Delivery) coordinator.Delivery
}

// finish is a mistake in the handling of one API.
func finish[R kmsg.Request](key int16, handle func(context.Context, R, protocol.FinishFunc) (protocol.Reply, error)) mistake {
	return mistake{api: func(api protocol.API) protocol.API {
		if api.Key != key {
			return api
		}
		start := api.Start
		api.Start = func(ctx context.Context, r *protocol.Request) protocol.FinishFunc {
			request, is := r.Message.(R)
			if !is {
				return start(ctx, r)
			}
			finish := start(ctx, r)
			return func(ctx context.Context) (protocol.Reply, error) { return handle(ctx, request, finish) }
		}
		return api
	}}
}

const (
	fetchKey           = 1
	endTxnKey          = 26
	txnOffsetCommitKey = 28
)

// deliveries is a mistake on the way of markers.
func deliveries(deliver func(ctx context.Context, d coordinator.Delivery, m coordinator.Marker, to []coordinator.TransactionPartition) []error) mistake {
	return mistake{delivery: func(d coordinator.Delivery) coordinator.Delivery { return wrong{d, deliver} }}
}

type wrong struct {
	right   coordinator.Delivery
	deliver func(ctx context.Context, d coordinator.Delivery, m coordinator.Marker, to []coordinator.TransactionPartition) []error
}

// Deliver implements coordinator.Delivery.
func (w wrong) Deliver(ctx context.Context, m coordinator.Marker, to []coordinator.TransactionPartition) []error {
	return w.deliver(ctx, w.right, m, to)
}

func mistakes() map[string]mistake {
	var last atomic.Int64
	return map[string]mistake{
		"read_committed shows everything": finish(fetchKey, func(ctx context.Context, r *kmsg.FetchRequest, finish protocol.FinishFunc) (protocol.Reply, error) {
			r.IsolationLevel = 0
			return finish(ctx)
		}),
		"aborted transactions are not listed": finish(fetchKey, func(ctx context.Context, _ *kmsg.FetchRequest, finish protocol.FinishFunc) (protocol.Reply, error) {
			reply, err := finish(ctx)
			if response, is := reply.Message.(*kmsg.FetchResponse); is {
				for t := range response.Topics {
					for p := range response.Topics[t].Partitions {
						response.Topics[t].Partitions[p].AbortedTransactions = nil
					}
				}
			}
			return reply, err
		}),
		"staged offsets are forgotten": {api: swallow(txnOffsetCommitKey, func(r kmsg.Request) kmsg.Response {
			response := r.ResponseKind().(*kmsg.TxnOffsetCommitResponse)
			for _, asked := range r.(*kmsg.TxnOffsetCommitRequest).Topics {
				topic := kmsg.NewTxnOffsetCommitResponseTopic()
				topic.Topic = asked.Topic
				for _, p := range asked.Partitions {
					row := kmsg.NewTxnOffsetCommitResponseTopicPartition()
					row.Partition = p.Partition
					topic.Partitions = append(topic.Partitions, row)
				}
				response.Topics = append(response.Topics, topic)
			}
			return response
		})},
		"decisions are forgotten": {api: swallow(endTxnKey, func(r kmsg.Request) kmsg.Response { return r.ResponseKind() })},
		"commits become aborts": deliveries(func(ctx context.Context, d coordinator.Delivery, m coordinator.Marker, to []coordinator.TransactionPartition) []error {
			m.Commit = m.Commit && m.Identity%7 > 0
			return d.Deliver(ctx, m, to)
		}),
		"one partition is left out": deliveries(func(ctx context.Context, d coordinator.Delivery, m coordinator.Marker, to []coordinator.TransactionPartition) []error {
			if len(to) < 2 {
				return d.Deliver(ctx, m, to)
			}
			return append(d.Deliver(ctx, m, to[1:]), nil)
		}),
		"complete before its markers": deliveries(func(ctx context.Context, d coordinator.Delivery, m coordinator.Marker, to []coordinator.TransactionPartition) []error {
			go d.Deliver(context.WithoutCancel(ctx), m, to)
			return make([]error, len(to))
		}),
		"late markers are taken": {delivery: func(d coordinator.Delivery) coordinator.Delivery {
			return renumbered{d, &last}
		}},
	}
}

// renumbered lets every marker look new where it arrives.
type renumbered struct {
	right coordinator.Delivery
	last  *atomic.Int64
}

// Deliver implements coordinator.Delivery.
func (r renumbered) Deliver(ctx context.Context, m coordinator.Marker, to []coordinator.TransactionPartition) []error {
	m.Identity = r.last.Add(1)
	return r.right.Deliver(ctx, m, to)
}

// swallow answers requests without handling them.
func swallow(key int16, answer func(kmsg.Request) kmsg.Response) func(protocol.API) protocol.API {
	return func(api protocol.API) protocol.API {
		if api.Key == key {
			api.Start = func(_ context.Context, r *protocol.Request) protocol.FinishFunc {
				return func(context.Context) (protocol.Reply, error) { return protocol.Reply{Message: answer(r.Message)}, nil }
			}
		}
		return api
	}
}

// suspicious is a test that wants to be complained about.
type suspicious struct {
	*testing.T
	mu         sync.Mutex
	complaints []string
}

func (s *suspicious) Errorf(format string, arguments ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.complaints = append(s.complaints, fmt.Sprintf(format, arguments...))
}

func (s *suspicious) Failed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.complaints) > 0
}

func (*suspicious) Log(...any) {}

// The checker finds what is done wrong, within a few seeds.
func TestMistakesAreFound(t *testing.T) {
	if !fitsInBubble {
		t.Parallel()
		runInBubble(t)
		return
	}
	for name, m := range mistakes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := uint64(1); seed <= 40; seed++ {
				var complaints []string
				synctest.Test(t, func(t *testing.T) {
					s := &suspicious{T: t}
					w := newMemory(s, seed, m)
					newRun(s, "", w, seed, 12).play()
					w.end()
					complaints = s.complaints
				})
				if len(complaints) > 0 {
					t.Logf("seed %d: %.200s", seed, complaints[0])
					return
				}
			}
			t.Error("nobody complains")
		})
	}
}
