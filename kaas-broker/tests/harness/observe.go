package harness

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Usage is what a broker's process holds at one moment.
type Usage struct {
	// Resident and Peak are bytes of physical memory, now and at most since the process began.
	Resident, Peak int64
	// Heap is what is reachable after a garbage collection, in bytes.
	Heap int64
	Holdings
}

// String is one line for a test's log.
func (u Usage) String() string {
	return fmt.Sprintf("resident %d MiB (peak %d), heap %d MiB, %d goroutines, %d descriptors",
		u.Resident>>20, u.Peak>>20, u.Heap>>20, u.Goroutines, u.Descriptors)
}

// Pid is the process id of a broker that this package has started, 0 of another one.
func (b *Broker) Pid() int {
	if k, is := b.process.(*kaas); is {
		return k.command.Process.Pid
	}
	return 0
}

// Usage measures the process, after a garbage collection.
func (b *Broker) Usage(t testing.TB) Usage {
	t.Helper()
	k, is := b.process.(*kaas)
	if !is {
		t.Skip("measures the process of kaas")
	}
	usage := Usage{Heap: number(k.profile(t, "heap?gc=1&debug=1"), "# HeapAlloc = ")}
	usage.Resident, usage.Peak = b.Memory(t)
	var err error
	if usage.Holdings, err = k.holdings(); err != nil {
		t.Fatal(err)
	}
	return usage
}

// Memory is the physical memory of the process in bytes, now and at most since it began or since ResetPeak.
func (b *Broker) Memory(t testing.TB) (now, peak int64) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(b.Pid()), "status"))
	if err != nil {
		t.Fatal(err)
	}
	return number(string(text), "VmRSS:") << 10, number(string(text), "VmHWM:") << 10
}

// ResetPeak makes the present memory the highest.
func (b *Broker) ResetPeak(t testing.TB) {
	t.Helper()
	if err := os.WriteFile(filepath.Join("/proc", strconv.Itoa(b.Pid()), "clear_refs"), []byte("5"), 0o600); err != nil {
		t.Skipf("needs the right to reset a process's highest memory: %v", err)
	}
}

// Goroutines is the text of all goroutines' stacks.
func (b *Broker) Goroutines(t testing.TB) string {
	t.Helper()
	if k, is := b.process.(*kaas); is {
		return k.profile(t, "goroutine?debug=1")
	}
	return ""
}

func (k *kaas) profile(t testing.TB, name string) string {
	t.Helper()
	text, err := k.get("/debug/pprof/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// get asks the broker's health port.
func (k *kaas) get(path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+k.health+path, nil)
	if err != nil {
		return nil, err
	}
	// A connection that stays open would be a descriptor of the broker.
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return io.ReadAll(response.Body)
}

// number is the first number behind a label, -1 when there is none.
func number(text, label string) int64 {
	_, rest, found := strings.Cut(text, label)
	fields := strings.Fields(rest)
	if !found || len(fields) == 0 {
		return -1
	}
	value, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return -1
	}
	return value
}

// Left says whether the broker has left by itself, and with which exit status.
func (b *Broker) Left() (status int, left bool) {
	if b.process == nil {
		return 0, false
	}
	return b.process.wait(0)
}
