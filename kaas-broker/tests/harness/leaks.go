package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Connections that are about to close, a takeover and the broker's own rounds come and go by themselves; anything above is a leak.
const (
	spareGoroutines = 12
	spareSockets    = 4
	leakPatience    = 20 * time.Second
	startPatience   = 5 * time.Second
)

// Holdings are what a process must give back when nobody uses it any more.
type Holdings struct {
	Goroutines int
	// Descriptors counts all that is open, Sockets the connections and listeners among them.
	Descriptors, Sockets int
	// Removed are open files that have no name any more.
	Removed []string
}

// markStart remembers what the broker holds before anybody uses it: once it is ready, and no more has come since the look before. A broker that ends at once
// has nothing to compare with later.
func (b *Broker) markStart(t testing.TB) {
	t.Helper()
	b.atStart = Holdings{}
	k, is := b.process.(*kaas)
	if !is || !b.options.Orderly {
		return
	}
	before := Holdings{}
	for deadline := time.Now().Add(startPatience); ; time.Sleep(10 * time.Millisecond) {
		now, err := k.holdings()
		late := time.Now().After(deadline)
		switch _, left := k.wait(0); {
		case left:
			return
		case err == nil && (late || k.ready() && now.Goroutines <= before.Goroutines):
			b.atStart = now
			return
		case late:
			t.Errorf("what the broker holds at its start: %v", err)
			return
		}
		before = now
	}
}

// ready says whether the broker says that it has taken over all that it leads.
func (k *kaas) ready() bool {
	answer, err := k.get("/readyz")
	return err == nil && strings.TrimSpace(string(answer)) == "ready"
}

// checkLeaks fails a test whose broker keeps goroutines, connections or removed files although all clients have gone. It is for the end of a test: cleanup
// functions of clients that were made after the broker have run before its own. A broker that has left by itself, or that is frozen, is not asked, nor one
// whose test does not ask for it: some client libraries keep connections for half a minute after they were closed.
func (b *Broker) checkLeaks(t testing.TB) {
	t.Helper()
	k, is := b.process.(*kaas)
	if !is || !b.options.Orderly || b.frozen.Load() || b.atStart.Goroutines == 0 {
		return
	}
	for deadline := time.Now().Add(leakPatience); ; time.Sleep(50 * time.Millisecond) {
		now, err := k.holdings()
		if err != nil {
			if _, left := k.wait(5 * time.Second); !left { // it may be on its way out
				t.Errorf("what the broker holds at the end: %v", err)
			}
			return
		}
		leaks := now.Above(b.atStart)
		if leaks == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("the broker still has what a test must not leave: %s\n%s", leaks, b.Goroutines(t))
			return
		}
	}
}

// Above tells what is more than it was before, by more than comes and goes by itself; empty if nothing. Files with a name are not asked for: each partition
// that is led keeps one.
func (h Holdings) Above(before Holdings) string {
	var list []string
	if h.Goroutines > before.Goroutines+spareGoroutines {
		list = append(list, fmt.Sprintf("%d goroutines, before %d", h.Goroutines, before.Goroutines))
	}
	if h.Sockets > before.Sockets+spareSockets {
		list = append(list, fmt.Sprintf("%d sockets, before %d", h.Sockets, before.Sockets))
	}
	if len(h.Removed) > 0 {
		list = append(list, "removed files "+strings.Join(h.Removed, ", "))
	}
	return strings.Join(list, "; ")
}

// holdings looks at the process from outside, and asks it for its goroutines.
func (k *kaas) holdings() (Holdings, error) {
	goroutines, err := k.get("/debug/pprof/goroutine?debug=1")
	if err != nil {
		return Holdings{}, err
	}
	held := Holdings{Goroutines: int(number(string(goroutines), "goroutine profile: total "))}
	folder := filepath.Join("/proc", strconv.Itoa(k.command.Process.Pid), "fd")
	entries, err := os.ReadDir(folder)
	if err != nil {
		return Holdings{}, err
	}
	held.Descriptors = len(entries)
	for _, entry := range entries {
		target, err := os.Readlink(filepath.Join(folder, entry.Name()))
		switch {
		case err != nil: // closed meanwhile
		case strings.HasPrefix(target, "socket:"):
			held.Sockets++
		case strings.HasSuffix(target, " (deleted)"):
			held.Removed = append(held.Removed, strings.TrimSuffix(target, " (deleted)"))
		}
	}
	return held, nil
}
