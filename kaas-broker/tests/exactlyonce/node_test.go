package exactlyonce

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	broker "github.com/kaas-rs/kaas/kaas-broker"
	"github.com/kaas-rs/kaas/kaas-broker/config"
	"github.com/kaas-rs/kaas/kaas-coordinator"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

var errDead = errors.New("the process is dead")

// node is one process of the broker in memory. From the moment of its death on nothing that it does has an effect, nor does it learn what its last
// operations did.
type node struct {
	world    *memory
	broker   *broker.Broker
	delivery coordinator.Delivery
	frozen   gate
	dead     atomic.Bool
	deposed  atomic.Bool // another node has been started on the same disk
	stop     context.CancelFunc

	mu       sync.Mutex
	accepted chan net.Conn
	closed   chan struct{}
	conns    []net.Conn
}

// brokerOptions let sessions and transactions end soon.
var brokerOptions = map[string]string{
	"group.initial.rebalance.delay.ms": "0", "group.min.session.timeout.ms": "1000",
	"transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000",
}

func startNode(w *memory, disk vfs.FS) (*node, error) {
	n := &node{world: w, accepted: make(chan net.Conn), closed: make(chan struct{})}
	arguments := []string{
		"--listeners", "PLAINTEXT://kaas:9092", "--health-addr", "off", "--data-dir", "in-memory",
		"--override", "kaas.storage.reserve.bytes=0", "--override", "log.segment.bytes=10000",
	}
	for key, value := range brokerOptions {
		arguments = append(arguments, "--override", key+"="+value)
	}
	c, err := config.Load(config.Input{Args: arguments})
	if err != nil {
		return nil, err
	}
	logger := zerolog.Nop()
	if os.Getenv("KAAS_VERBOSE") != "" {
		logger = zerolog.New(os.Stderr).With().Timestamp().Logger()
	}
	n.broker, err = broker.Open(context.Background(), broker.Options{
		Config: c, Logger: logger, Memory: disk, Listen: n.listen,
		WrapFS:  func(fs vfs.FS) vfs.FS { return vfs.NewFault(fs, n.disk) },
		WrapAPI: w.mistake.api,
		WrapDelivery: func(d coordinator.Delivery) coordinator.Delivery {
			if n.delivery = d; w.mistake.delivery != nil {
				n.delivery = w.mistake.delivery(d)
			}
			return courier{n}
		},
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	n.stop = cancel
	w.processes.Go(func() {
		err := n.broker.Run(ctx)
		if err != nil && !n.dead.Load() && (!n.deposed.Load() || !errors.Is(err, broker.ErrFenced)) {
			w.t.Errorf("seed %d: the broker ended: %v", w.seed, err)
		}
	})
	return n, nil
}

// disk is called before and after each operation of the file system.
func (n *node) disk(op vfs.Op) error {
	if !op.After {
		n.frozen.pass()
		if op.Kind == vfs.OpSync {
			time.Sleep(n.world.syncTime())
			n.frozen.pass()
		}
	}
	if n.dead.Load() {
		return errDead
	}
	return nil
}

// kill ends the process at once.
func (n *node) kill() {
	n.dead.Store(true)
	n.stop()
	n.frozen.open()
	_ = n.Close()
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.conns {
		_ = c.Close()
	}
}

// listen, Accept, Close and Addr make the node its own listener.
func (n *node) listen(context.Context, string) (net.Listener, error) { return n, nil }

// Accept implements net.Listener.
func (n *node) Accept() (net.Conn, error) {
	select {
	case c := <-n.accepted:
		return c, nil
	case <-n.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (n *node) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	select {
	case <-n.closed:
	default:
		close(n.closed)
	}
	return nil
}

// Addr implements net.Listener.
func (*node) Addr() net.Addr { return anywhere }

// connect is a client's connection to the node.
func (n *node) connect(ctx context.Context) (net.Conn, error) {
	ours, theirs := newConnection()
	n.mu.Lock()
	n.conns = append(n.conns, theirs)
	n.mu.Unlock()
	select {
	case n.accepted <- &gated{distant{theirs}, &n.frozen}:
		return ours, nil
	case <-n.closed:
		return nil, syscall.ECONNREFUSED
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// distant is a connection whose requests take time.
type distant struct{ net.Conn }

func (d distant) Read(p []byte) (int, error) {
	n, err := d.Conn.Read(p)
	time.Sleep(latency)
	return n, err
}

// courier carries the markers of a node over a network that loses and delays them, to whichever node leads when they arrive. What is on its way arrives
// also when the sender has given up, was replaced or is dead.
type courier struct{ from *node }

// Deliver implements coordinator.Delivery.
func (c courier) Deliver(ctx context.Context, m coordinator.Marker, to []coordinator.TransactionPartition) []error {
	c.from.frozen.pass()
	if c.from.dead.Load() {
		return failures(len(to))
	}
	late, lost := c.from.world.road()
	if lost {
		return failures(len(to))
	}
	answer := make(chan []error, 1)
	c.from.world.processes.Go(func() {
		time.Sleep(late)
		arriving, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		answer <- c.from.world.leader().delivery.Deliver(arriving, m, to)
	})
	select {
	case errs := <-answer:
		c.from.frozen.pass()
		return errs
	case <-ctx.Done():
		return failures(len(to))
	}
}

func failures(n int) []error {
	errs := make([]error, n)
	for i := range errs {
		errs[i] = errDead
	}
	return errs
}
