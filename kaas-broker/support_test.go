package broker_test

import (
	"context"
	"errors"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	broker "github.com/kaas-rs/kaas/kaas-broker"
	"github.com/kaas-rs/kaas/kaas-broker/config"
)

const patience = 30 * time.Second

// load is a configuration on a free port, unless the arguments name listeners.
func load(t *testing.T, arguments ...string) *config.Config {
	t.Helper()
	if !slices.Contains(arguments, "--listeners") {
		arguments = append(arguments, "--listeners", "PLAINTEXT://127.0.0.1:0")
	}
	c, err := config.Load(config.Input{Args: arguments})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// open opens a broker in memory, unless the options say otherwise.
func open(t *testing.T, o broker.Options) *broker.Broker {
	t.Helper()
	if o.Config == nil {
		o.Config = load(t, "--health-addr", "off")
	}
	b, err := broker.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return b
}

// serve runs the broker; stop ends it and returns what Run returned.
func serve(t *testing.T, b *broker.Broker) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- b.Run(ctx) }()
	stopped := false
	stop = func() error {
		stopped = true
		cancel()
		return <-ended
	}
	t.Cleanup(func() {
		if !stopped {
			_ = stop()
		}
	})
	return stop
}

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

func newClient(t *testing.T, b *broker.Broker, options ...kgo.Opt) *kgo.Client {
	t.Helper()
	client, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(b.Addr("PLAINTEXT").String())}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// leakCheck returns a function that fails the test when goroutines of this module, or files, are left over.
func leakCheck(t *testing.T) (check func()) {
	t.Helper()
	files := openFiles(t)
	return func() {
		t.Helper()
		var goroutines string
		for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
			goroutines = ownGoroutines()
			if goroutines == "" && openFiles(t) <= files {
				return
			}
		}
		t.Errorf("%d files are open, before it were %d; goroutines left over:\n%s", openFiles(t), files, goroutines)
	}
}

// ownGoroutines are the stacks of this repository's code, that of the test aside.
func ownGoroutines() string {
	buffer := make([]byte, 1<<20)
	var left []string
	for stack := range strings.SplitSeq(string(buffer[:runtime.Stack(buffer, true)]), "\n\n") {
		if strings.Contains(stack, "/kaas-") && !strings.Contains(stack, "testing.tRunner") {
			left = append(left, stack)
		}
	}
	return strings.Join(left, "\n\n")
}

// openFiles counts this process's open files, where the system tells.
func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if errors.Is(err, os.ErrNotExist) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}
