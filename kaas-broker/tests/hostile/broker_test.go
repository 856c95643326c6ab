package hostile

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

const mib = 1 << 20

// full says that the long form of the tests was asked for.
func full() bool { return os.Getenv("KAAS_HOSTILE") == "full" }

// pick is the short test's number, or the long one's.
func pick(short, long int) int {
	if full() {
		return long
	}
	return short
}

// seed is what random choices begin from.
func seed(t *testing.T) uint64 {
	t.Helper()
	value, err := strconv.ParseUint(os.Getenv("KAAS_SEED"), 10, 64)
	if err != nil {
		value = uint64(time.Now().UnixNano())
	}
	t.Logf("KAAS_SEED=%d", value)
	return value
}

// start runs a broker that can be measured. What it goes through must not keep it from an orderly end.
func start(t *testing.T, options harness.Options) *harness.Broker {
	t.Helper()
	harness.NeedKaas(t)
	options.Orderly = true
	return harness.Start(t, options)
}

// startDoomed is start for a broker that will lose its directory.
func startDoomed(t *testing.T, options harness.Options) *harness.Broker {
	t.Helper()
	harness.NeedKaas(t)
	return harness.Start(t, options)
}

// watched is a broker between two measurements.
type watched struct {
	broker *harness.Broker
	before harness.Usage
}

// watch measures the broker now and compares when the test ends: the highest memory may have been so many bytes above the present one, and nothing may be
// left of what the test did. It must come before anything whose cleanup closes clients.
func watch(t *testing.T, broker *harness.Broker, bound int64) *watched {
	t.Helper()
	w := &watched{broker: broker, before: broker.Usage(t)}
	broker.ResetPeak(t)
	t.Cleanup(func() { w.compare(t, bound) })
	return w
}

// What is open goes up and down by itself; anything above is a leak.
const (
	spareDescriptors = 12
	settleTime       = 40 * time.Second
)

func (w *watched) compare(t *testing.T, bound int64) {
	t.Helper()
	if _, left := w.left(); left {
		t.Errorf("the broker has left:\n%s", w.broker.Log())
		return
	}
	_, peak := w.broker.Memory(t)
	after := w.broker.Usage(t)
	for deadline := time.Now().Add(settleTime); w.leaks(after) != "" && time.Now().Before(deadline); after = w.broker.Usage(t) {
		time.Sleep(500 * time.Millisecond)
	}
	t.Logf("before: %v", w.before)
	t.Logf("after:  %v", after)
	t.Logf("memory at most: %d MiB, %d MiB above the beginning, bound %d MiB", peak>>20, (peak-w.before.Resident)>>20, bound>>20)
	if !raced && peak-w.before.Resident > bound {
		t.Errorf("the broker's memory rose by %d MiB, the bound is %d", (peak-w.before.Resident)>>20, bound>>20)
	}
	if leaks := w.leaks(after); leaks != "" {
		t.Errorf("the broker still has %s\n%s", leaks, w.broker.Goroutines(t))
	}
}

// leaks tells what the broker has kept since it was watched, empty if nothing.
func (w *watched) leaks(after harness.Usage) string {
	if leaks := after.Above(w.before.Holdings); leaks != "" {
		return leaks
	}
	if after.Descriptors > w.before.Descriptors+spareDescriptors {
		return fmt.Sprintf("%d descriptors, before %d", after.Descriptors, w.before.Descriptors)
	}
	return ""
}

func (w *watched) left() (int, bool) { return w.broker.Left() }
