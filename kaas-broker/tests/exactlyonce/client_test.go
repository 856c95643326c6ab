package exactlyonce

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// latency is the way of a request. Without any, a client that is refused and asks again at once would stop the time of a bubble.
const latency = 200 * time.Microsecond

var errCut = errors.New("this client has no network any more")

// client is the process that a franz-go client runs in: it can freeze and crash.
type client struct {
	world  world
	frozen gate
	random *rand.Rand   // guarded by mu
	spared *atomic.Bool // ends its bad luck
	// alive ends with a crash.
	alive context.Context //nolint:containedctx // it is the life of the process
	die   context.CancelFunc

	mu     sync.Mutex
	cut    bool
	conns  []net.Conn
	member bool // it has joined its group with an id
}

// newProcess is a process that goes on as long as nobody crashes it.
func newProcess(w world) *client {
	c := &client{world: w}
	c.alive, c.die = context.WithCancel(context.Background())
	return c
}

// newUnlucky is a process that has bad luck at the end of transactions, until it is spared.
func newUnlucky(w world, seed uint64, spared *atomic.Bool) *client {
	c := newProcess(w)
	c.random, c.spared = rand.New(rand.NewPCG(seed, 0)), spared
	return c
}

func (c *client) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	time.Sleep(latency)
	c.frozen.pass()
	conn, err := c.world.dial(ctx)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cut {
		_ = conn.Close()
		return nil, errCut
	}
	c.conns = append(c.conns, conn)
	return &unlucky{gated{conn, &c.frozen}, c}, nil
}

// unlucky is a connection over which some transactions are not ended, or late, or without the client's learning of it.
type unlucky struct {
	gated
	client *client
}

// Write is called with whole requests.
func (u *unlucky) Write(p []byte) (int, error) {
	if u.client.joinsAnew(p) {
		u.client.crash()
		return 0, errCut
	}
	const endTxn = 26
	if u.client.random == nil || u.client.spared.Load() || len(p) < 6 || binary.BigEndian.Uint16(p[4:]) != endTxn {
		return u.gated.Write(p)
	}
	u.client.mu.Lock()
	luck, pause := u.client.random.IntN(40), time.Duration(u.client.random.Int64N(int64(transactionTimeout)))
	u.client.mu.Unlock()
	switch luck {
	case 0:
		u.client.crash()
	case 1:
		n, err := u.gated.Write(p)
		u.client.crash()
		return n, err
	case 2, 3, 4:
		u.client.freeze(pause)
	}
	return u.gated.Write(p)
}

// joinsAnew reports whether a request joins the group without an id by a client that has had one. When the answer to its JoinGroup tells a member that the group
// has put it out, franz-go 1.22.3 forgets the id and nothing else: what the member is assigned again it reads from where it was, and commits, although others may have read
// on meanwhile. (Where a heartbeat tells it, it gives up what it has, as consumers of Apache Kafka do in either case.) Such a process has to begin anew.
func (c *client) joinsAnew(request []byte) bool {
	const prefix, joinGroup, flexible = 14, 11, 6
	if len(request) < prefix || binary.BigEndian.Uint16(request[4:]) != joinGroup {
		return false
	}
	body := request[prefix+max(0, int(int16(binary.BigEndian.Uint16(request[12:])))):] // behind the client's name
	join := kmsg.JoinGroupRequest{Version: int16(binary.BigEndian.Uint16(request[6:]))}
	if join.Version >= flexible {
		body = body[1:] // no tags
	}
	if err := join.ReadFrom(body); err != nil {
		panic(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	anew := c.member && join.MemberID == ""
	c.member = c.member || join.MemberID != ""
	return anew
}

// crash ends the process without a word to anybody.
func (c *client) crash() {
	c.mu.Lock()
	c.cut = true
	for _, conn := range c.conns {
		_ = conn.Close()
	}
	c.mu.Unlock()
	c.die()
	c.frozen.open()
}

// bounded calls what has no context of its own. When that takes too long the process crashes, which ends it.
func (c *client) bounded(call func() error) error {
	late := time.AfterFunc(patience, c.crash)
	err := call()
	if !late.Stop() {
		return fmt.Errorf("%w: %w", context.DeadlineExceeded, err)
	}
	return err
}

// freeze stops the process for a while: nothing comes out of it, and what it has been sent waits.
func (c *client) freeze(d time.Duration) {
	c.frozen.shut()
	time.AfterFunc(d, c.frozen.open)
}

// transactionTimeout is every producer's.
const transactionTimeout = 5 * time.Second

// options suit a client that meets trouble all the time.
func (c *client) options(more ...kgo.Opt) []kgo.Opt {
	options := []kgo.Opt{
		kgo.SeedBrokers(c.world.bootstrap()), kgo.Dialer(c.dial), kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.TransactionTimeout(transactionTimeout), kgo.RetryBackoffFn(func(int) time.Duration { return 50 * time.Millisecond }),
		kgo.MetadataMinAge(50 * time.Millisecond), kgo.UnknownTopicRetries(-1), kgo.ProduceRequestTimeout(5 * time.Second), kgo.RequestTimeoutOverhead(5 * time.Second),
		kgo.RequestRetries(200), kgo.FetchMaxWait(500 * time.Millisecond), kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
	}
	if os.Getenv("KAAS_VERBOSE") != "" {
		options = append(options, kgo.WithLogger(kgo.BasicLogger(os.Stderr, kgo.LogLevelDebug, func() string { return time.Now().Format("05.000 ") })))
	}
	return append(options, more...)
}
