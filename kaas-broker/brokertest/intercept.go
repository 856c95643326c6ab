package brokertest

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/kaas-rs/kaas/kaas-protocol"
)

// AnyKey stands for every API in Intercept.
const AnyKey int16 = -1

// Action is what happens to a request instead of, or before, being answered.
type Action struct {
	begin func(start protocol.StartFunc) protocol.StartFunc
}

// Fail answers with an error code, such as kerr.NotLeaderForPartition.Code, without handling the request: in each row of the response that stands for
// a topic, partition or resource of the request, or for the response as a whole where it has no rows. Produce with acks=0, which has no answer,
// loses its connection.
func Fail(code int16) Action {
	return Action{func(protocol.StartFunc) protocol.StartFunc {
		return func(_ context.Context, r *protocol.Request) protocol.FinishFunc {
			reply := protocol.Reply{Message: failure(r.Message, code)}
			if unanswered(r.Message) {
				reply = protocol.Reply{Close: true}
			}
			return func(context.Context) (protocol.Reply, error) { return reply, nil }
		}
	}}
}

// Delay handles the request and holds its answer back for a time, or until the connection ends or the broker stops. Answers keep the order of requests, so that later
// ones of the connection are late, too.
func Delay(by time.Duration) Action {
	return Action{func(start protocol.StartFunc) protocol.StartFunc {
		return func(ctx context.Context, r *protocol.Request) protocol.FinishFunc {
			finish := start(ctx, r)
			return func(ctx context.Context) (protocol.Reply, error) {
				timer := time.NewTimer(by)
				defer timer.Stop()
				select {
				case <-timer.C:
				case <-r.Conn.Draining():
				case <-ctx.Done():
				}
				return finish(ctx)
			}
		}
	}}
}

// Drop closes the connection without handling the request.
func Drop() Action {
	return Action{func(protocol.StartFunc) protocol.StartFunc {
		return func(context.Context, *protocol.Request) protocol.FinishFunc {
			return func(context.Context) (protocol.Reply, error) { return protocol.Reply{Close: true}, nil }
		}
	}}
}

// DropAnswer handles the request and closes the connection instead of answering: the client cannot know what became of it. This is where a producer
// without idempotence writes twice.
func DropAnswer() Action {
	return Action{func(start protocol.StartFunc) protocol.StartFunc {
		return func(ctx context.Context, r *protocol.Request) protocol.FinishFunc {
			finish := start(ctx, r)
			return func(ctx context.Context) (protocol.Reply, error) {
				reply, err := finish(ctx)
				release(reply.Sections)
				return protocol.Reply{Close: true}, err
			}
		}
	}}
}

func release(sections [][]protocol.Section) {
	for _, topic := range sections {
		for _, section := range topic {
			if section != nil {
				section.Release()
			}
		}
	}
}

// Intercept lets action happen to the next n requests with an API key (AnyKey: any), on whatever connection; n < 0 means all from now on. Of several
// interceptions that apply the oldest counts. ApiVersions (18) cannot be intercepted.
func (b *Broker) Intercept(key int16, n int, action Action) *Interception {
	i := &Interception{rules: &b.rules, key: key, left: n, action: action}
	b.rules.mutex.Lock()
	defer b.rules.mutex.Unlock()
	b.rules.active = append(b.rules.active, i)
	return i
}

// Interception is an action and the requests that it is for.
type Interception struct {
	rules  *rules
	key    int16
	action Action
	// What follows is guarded by the rules' mutex.
	left int
	hits int
}

// Hits is how many requests it has happened to.
func (i *Interception) Hits() int {
	i.rules.mutex.Lock()
	defer i.rules.mutex.Unlock()
	return i.hits
}

// Stop ends it early. Requests that it has happened to are not affected.
func (i *Interception) Stop() {
	i.rules.mutex.Lock()
	defer i.rules.mutex.Unlock()
	i.rules.active = slices.DeleteFunc(i.rules.active, func(other *Interception) bool { return other == i })
}

// rules are the interceptions in force, the oldest first.
type rules struct {
	mutex  sync.Mutex
	active []*Interception
}

// wrap puts the rules before a handler.
func (r *rules) wrap(api protocol.API) protocol.API {
	start := api.Start
	api.Start = func(ctx context.Context, request *protocol.Request) protocol.FinishFunc {
		if i := r.next(api.Key); i != nil {
			return i.action.begin(start)(ctx, request)
		}
		return start(ctx, request)
	}
	return api
}

// next takes a request of the key into account and returns what applies to it, nil for nothing.
func (r *rules) next(key int16) *Interception {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for _, i := range r.active {
		if i.left == 0 || i.key != AnyKey && i.key != key {
			continue
		}
		i.hits++
		if i.left > 0 {
			i.left--
		}
		return i
	}
	return nil
}
