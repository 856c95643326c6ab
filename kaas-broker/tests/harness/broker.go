package harness

import (
	"maps"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// Mode says where a broker keeps its records.
type Mode int

const (
	// Single keeps them in a data directory.
	Single Mode = iota
	// Dev keeps them in memory.
	Dev
)

// Options says what broker a test needs. The zero value is a broker with a data directory of its own and default settings.
type Options struct {
	Mode Mode
	// Dir is the data directory; empty means a new one that is removed after the test.
	Dir string
	// Overrides are settings under Kafka's own names.
	Overrides map[string]string
	// Flags follow the others on kaas's command line. Apache Kafka has no such flags: a test that gives some is skipped there.
	Flags []string
	// Env is added to kaas's environment, as KEY=value.
	Env []string
	// Decodes are the sites, as /healthz names them, at which the test makes the broker look into records. At any other site it must not.
	Decodes []string
	// Orderly ends the broker at the end of the test as a service manager does, and not as `kill -9`: nothing that it went through may keep it from that, nor
	// may it still hold anything of what the test did.
	Orderly bool
}

// process is a broker that the harness controls.
type process interface {
	start(t testing.TB)
	kill(t testing.TB)
	terminate(t testing.TB)
	// wait returns the exit status, or false when the process still runs after that time.
	wait(patience time.Duration) (int, bool)
	log() string
}

// Broker is the broker under test.
type Broker struct {
	address string
	process process
	options Options
	running bool
	frozen  atomic.Bool
	atStart Holdings
}

// Start runs a broker until the test ends. With KAAS_TEST_BOOTSTRAP it is the one that runs there.
func Start(t testing.TB, options Options) *Broker {
	t.Helper()
	if address := os.Getenv("KAAS_TEST_BOOTSTRAP"); address != "" {
		if !options.plain() {
			t.Skip("needs a broker with settings of its own, but KAAS_TEST_BOOTSTRAP is set")
		}
		return &Broker{address: address, running: true}
	}
	return run(t, options, Apache())
}

// StartApache runs an Apache Kafka beside the broker under test.
func StartApache(t testing.TB, options Options) *Broker {
	t.Helper()
	return run(t, options, true)
}

func run(t testing.TB, options Options, isApache bool) *Broker {
	t.Helper()
	if options.Dir == "" {
		options.Dir = t.TempDir()
	}
	broker := &Broker{address: freeAddress(t, firstBrokerPort), options: options}
	if isApache {
		broker.process = newApache(t, broker.address, options)
	} else {
		broker.process = newKaas(t, broker.address, options)
	}
	t.Cleanup(func() { broker.cleanup(t) })
	broker.Resume(t)
	return broker
}

// Apache says whether tests run against Apache Kafka instead of kaas.
func Apache() bool { return os.Getenv("KAAS_TEST_BROKER") == "apache" }

// Settle waits for what Apache Kafka does after it has answered: a topic that was just made or changed is known to every part of it only a moment
// later. Kaas answers when it is done, so nothing waits there.
func Settle() {
	if Apache() {
		time.Sleep(500 * time.Millisecond)
	}
}

// NeedKaas skips a test of something that only kaas has.
func NeedKaas(t testing.TB) {
	t.Helper()
	if Apache() || os.Getenv("KAAS_TEST_BOOTSTRAP") != "" {
		t.Skip("is about kaas itself")
	}
}

func (o Options) plain() bool {
	return o.Dir == "" && len(o.Overrides) == 0 && len(o.Flags) == 0 && len(o.Env) == 0
}

// settings are the overrides as key=value, in a fixed order.
func (o Options) settings() []string {
	var list []string
	for _, key := range slices.Sorted(maps.Keys(o.Overrides)) {
		list = append(list, key+"="+o.Overrides[key])
	}
	return list
}

// Bootstrap is the broker's host:port. It stays the same over restarts.
func (b *Broker) Bootstrap() string { return b.address }

// Dir is the data directory.
func (b *Broker) Dir() string { return b.options.Dir }

// Kill ends the broker as `kill -9` does.
func (b *Broker) Kill(t testing.TB) {
	t.Helper()
	b.needProcess(t)
	b.checkOpacity(t)
	b.process.kill(t)
	b.running = false
	b.frozen.Store(false)
}

// Stop ends the broker as a service manager does, and waits until it has left.
func (b *Broker) Stop(t testing.TB) {
	t.Helper()
	b.needProcess(t)
	b.checkOpacity(t)
	b.process.terminate(t)
	b.running = false
}

// Resume starts the broker again on the same address and data, and waits until it accepts connections.
func (b *Broker) Resume(t testing.TB) {
	t.Helper()
	b.needProcess(t)
	b.process.start(t)
	b.running = true
	b.markStart(t)
}

// WaitLeft waits until the broker has left by itself and returns its exit status.
func (b *Broker) WaitLeft(t testing.TB, patience time.Duration) int {
	t.Helper()
	b.needProcess(t)
	status, left := b.process.wait(patience)
	if !left {
		t.Fatalf("the broker still runs after %v", patience)
	}
	b.running = false
	return status
}

// Log is what the broker has written so far.
func (b *Broker) Log() string {
	if b.process == nil {
		return ""
	}
	return b.process.log()
}

func (b *Broker) needProcess(t testing.TB) {
	t.Helper()
	if b.process == nil {
		t.Skip("needs a broker that it can stop, but KAAS_TEST_BOOTSTRAP is set")
	}
}

// end ends the broker in the way that the options say. One that has left by itself is done with.
func (b *Broker) end(t testing.TB) {
	if _, left := b.process.wait(0); !left && b.options.Orderly {
		b.process.terminate(t)
	} else {
		b.process.kill(t)
	}
}

func (b *Broker) cleanup(t testing.TB) {
	if b.running {
		b.checkOpacity(t)
		b.checkLeaks(t)
		b.end(t)
	}
	if strings.Contains(b.Log(), "WARNING: DATA RACE") {
		t.Error("the race detector has found something")
	}
	if t.Failed() {
		t.Logf("the broker's log:\n%s", tail(b.Log(), 3<<10))
	}
}
