package brokertest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/rs/zerolog"

	broker "github.com/kaas-rs/kaas/kaas-broker"
	"github.com/kaas-rs/kaas/kaas-broker/config"
	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

const (
	host     = "127.0.0.1"
	listener = "PLAINTEXT"
	// createTimeout bounds CreateTopic.
	createTimeout = 30 * time.Second
)

// Broker is a broker that runs in this process.
type Broker struct {
	t         testing.TB
	settings  settings
	address   string
	memory    *vfs.Mem
	rules     rules
	files     fileHooks
	log       *testLog
	running   *run
	clusterID string
}

// run is the time between one start and the next stop.
type run struct {
	broker *broker.Broker
	stop   context.CancelFunc
	ended  chan error
}

// Start runs a broker on a free port of 127.0.0.1 until the test ends. It fails the test when that is not possible.
func Start(t testing.TB, options ...Option) *Broker {
	t.Helper()
	b := &Broker{t: t, settings: settings{memory: DefaultMemory, level: zerolog.InfoLevel}}
	for _, option := range options {
		option(&b.settings)
	}
	b.memory = vfs.NewMem(b.settings.memory)
	b.log = newTestLog(t, b.settings.verbose)
	t.Cleanup(b.cleanUp)
	b.startAnywhere()
	return b
}

// startAnywhere tries ports until one is free.
func (b *Broker) startAnywhere() {
	b.t.Helper()
	var err error
	for range 10 {
		if b.address, err = freeAddress(); err != nil {
			continue
		}
		if err = b.start(); err == nil {
			return
		}
		if busy := (*net.OpError)(nil); !errors.As(err, &busy) {
			break // the configuration, not the port
		}
	}
	b.t.Fatalf("start broker: %v", err)
}

// The ports lie below those that systems give to outgoing connections: while the broker is stopped, a client that dials it again and again could
// otherwise be given its port, and be connected to itself.
const (
	firstPort = 20_000
	ports     = 12_000
)

// freeAddress finds an address that nobody listens on.
func freeAddress() (string, error) {
	address := net.JoinHostPort(host, strconv.Itoa(firstPort+rand.IntN(ports)))
	probe, err := net.Listen("tcp", address) //nolint:noctx // binding waits for nobody
	if err != nil {
		return "", err
	}
	return address, probe.Close()
}

func (b *Broker) start() error {
	c, err := b.config()
	if err != nil {
		return err
	}
	opened, err := broker.Open(context.Background(), broker.Options{
		Config:  c,
		Version: "test",
		Logger:  zerolog.New(b.log).Level(b.settings.level).With().Timestamp().Logger(),
		Memory:  b.memory,
		WrapFS:  b.files.wrap,
		WrapAPI: b.rules.wrap,
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &run{broker: opened, stop: cancel, ended: make(chan error, 1)}
	go func() { r.ended <- opened.Run(ctx) }()
	b.running, b.clusterID = r, opened.ClusterID()
	return nil
}

// config is what the options say, over what suits a test.
func (b *Broker) config() (*config.Config, error) {
	arguments := []string{
		"--listeners", listener + "://" + b.address, "--health-addr", "off",
		"--override", "group.initial.rebalance.delay.ms=0",
	}
	for _, override := range b.settings.overrides {
		arguments = append(arguments, "--override", override)
	}
	c, err := config.Load(config.Input{Args: arguments})
	if err != nil {
		return nil, err
	}
	if c.Mode != config.ModeDev {
		return nil, fmt.Errorf("a broker in a test keeps everything in memory: leave out %s", c.DataDir)
	}
	return c, nil
}

func (b *Broker) cleanUp() {
	if b.running != nil {
		b.Stop()
	}
	b.log.finish()
}

// Addr is the broker's host:port. It stays the same over restarts.
func (b *Broker) Addr() string { return b.address }

// Bootstrap is Addr as the list of bootstrap servers that clients want.
func (b *Broker) Bootstrap() []string { return []string{b.address} }

// ClusterID is the id that clients see; it stays the same over restarts.
func (b *Broker) ClusterID() string { return b.clusterID }

// CreateTopic makes a topic and waits until it can be used. config holds settings such as "cleanup.policy" under Kafka's names and may be nil. It fails
// the test when the topic cannot be made, for example because it exists.
func (b *Broker) CreateTopic(name string, partitions int32, config map[string]string) {
	b.t.Helper()
	if b.running == nil {
		b.t.Fatalf("create topic %s: the broker is stopped", name)
	}
	ctx, cancel := context.WithTimeout(b.t.Context(), createTimeout)
	defer cancel()
	if err := b.running.broker.CreateTopic(ctx, name, partitions, config); err != nil {
		b.t.Fatal(err)
	}
}

// Stop ends the broker as a rollout does: requests under way are answered, then connections are closed. Its files stay. Stopping
// a stopped broker does nothing.
func (b *Broker) Stop() {
	b.t.Helper()
	if b.running == nil {
		return
	}
	r := b.running
	b.running = nil
	r.stop()
	if err := <-r.ended; err != nil {
		b.t.Errorf("broker: %v", err)
	}
}

// Start runs a stopped broker again, on the same address and files.
func (b *Broker) Start() {
	b.t.Helper()
	if b.running != nil {
		b.t.Fatal("start broker: it runs")
	}
	if err := b.start(); err != nil {
		b.t.Fatalf("start broker: %v", err)
	}
}

// Restart is Stop and Start.
func (b *Broker) Restart() {
	b.t.Helper()
	b.Stop()
	b.Start()
}

// Tripwires tells, since the last start, where the broker decoded records or encoded batches anew, by the name of the place in its code. Places that were
// not passed are left out: between producing and fetching it passes none, with the exceptions that kaas-codec/batch lists.
func (b *Broker) Tripwires() map[batch.Site]batch.Counts {
	b.t.Helper()
	if b.running == nil {
		b.t.Fatal("tripwires: the broker is stopped")
	}
	counts := b.running.broker.Tripwires().Snapshot()
	maps.DeleteFunc(counts, func(_ batch.Site, c batch.Counts) bool { return c == batch.Counts{} })
	return counts
}
