package exactlyonce

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

// processes is the real world: processes of bin/kaas on one directory, of which the last one started leads.
type processes struct {
	t      *testing.T
	seed   uint64
	leader atomic.Pointer[harness.Broker]
}

func newProcesses(t *testing.T, seed uint64) *processes {
	p := &processes{t: t, seed: seed}
	p.leader.Store(harness.Start(t, harness.Options{Overrides: brokerOptions}))
	return p
}

func (p *processes) bootstrap() string { return p.leader.Load().Bootstrap() }

// dial reaches the leader, whatever address a client was told before.
func (p *processes) dial(ctx context.Context) (net.Conn, error) {
	dialer := net.Dialer{Timeout: time.Second}
	return dialer.DialContext(ctx, "tcp", p.bootstrap())
}

func (p *processes) createTopic(name string, partitions int32) {
	kafka, err := kgo.NewClient(kgo.SeedBrokers(p.bootstrap()))
	if err != nil {
		p.t.Fatal(err)
	}
	defer kafka.Close()
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, partitions, 1
	request := kmsg.NewPtrCreateTopicsRequest()
	request.TimeoutMillis, request.Topics = 30_000, append(request.Topics, topic)
	response, err := request.RequestWith(p.t.Context(), kafka)
	if err != nil || response.Topics[0].ErrorCode != 0 {
		p.t.Fatalf("create topic %s: %v %v", name, err, kerr.ErrorForCode(response.Topics[0].ErrorCode))
	}
}

func (p *processes) disturb(random *rand.Rand) string {
	leader := p.leader.Load()
	pause := func(limit time.Duration) { time.Sleep(time.Duration(random.Int64N(int64(limit)))) }
	switch random.IntN(5) {
	case 0:
		leader.Freeze(p.t)
		next := harness.Start(p.t, harness.Options{Dir: leader.Dir(), Overrides: brokerOptions})
		p.leader.Store(next)
		pause(time.Second)
		leader.Thaw(p.t)
		if status := leader.WaitLeft(p.t, 30*time.Second); status == 0 {
			p.t.Errorf("seed %d: a broker that was replaced left with status 0", p.seed)
		}
		return "zombie"
	case 1:
		leader.Freeze(p.t)
		pause(2 * time.Second)
		leader.Thaw(p.t)
		return "freeze"
	default:
		leader.Kill(p.t)
		pause(300 * time.Millisecond)
		leader.Resume(p.t)
		return "kill"
	}
}

func (*processes) heal() {}

// TestExactlyOnceOutlivesKills is TestExactlyOnce with kill -9 and frozen processes: ten times where the clients' tests run for each change, more with KAAS_SOAK=1,
// fewer with the race detector and where nobody asks for all. KAAS_SEED plays one seed; which request a kill meets is not in the seed's power.
func TestExactlyOnceOutlivesKills(t *testing.T) {
	t.Parallel()
	harness.NeedKaas(t)
	if testing.Short() {
		t.Skip("takes real time")
	}
	usually := 2
	if os.Getenv("KAAS_REQUIRE_CLIENTS") == "1" && !raced {
		usually = 10
	}
	seeds := make([]uint64, harness.Rounds(usually, 30))
	for i := range seeds {
		seeds[i] = uint64(time.Now().UnixNano()) + uint64(i)
	}
	if os.Getenv("KAAS_SEED") != "" {
		seeds = []uint64{number(t, "KAAS_SEED", 0)}
	}
	for i, seed := range seeds {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel() // most of the time everybody waits for timeouts
			began := time.Now()
			r := newRun(t, fmt.Sprintf("seed %d: ", seed), newProcesses(t, seed), seed, 15)
			r.play()
			t.Logf("seed %d: %v, in %v", seed, r.ledger, time.Since(began))
		})
	}
}
