package main

import (
	"context"
	"runtime"
	"runtime/debug"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kaas-rs/kaas/kaas-broker/internal/memory"
)

func TestIsBusy(t *testing.T) {
	for name, c := range map[string]struct {
		before bool
		rounds uint64
		want   bool
	}{
		"quiet":                       {false, 0, false},
		"some rounds":                 {false, manyRounds - 1, false},
		"many rounds":                 {false, manyRounds, true},
		"fewer rounds, because of it": {true, fewRounds + 1, true},
		"quiet again":                 {true, fewRounds, false},
		"no rounds any more":          {true, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := isBusy(c.before, c.rounds); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

// withBallast is the state that the broker begins with, until the test ends. percent tells the present percentage.
func withBallast(t *testing.T) (percent func() int) {
	t.Helper()
	before, limit := debug.SetGCPercent(100), debug.SetMemoryLimit(-1)
	t.Cleanup(func() {
		debug.SetGCPercent(before)
		debug.SetMemoryLimit(limit)
		ballast = nil
	})
	if !tuneCollector([]string{"A=b"}) {
		t.Fatal("nothing is paced")
	}
	return func() int {
		p := debug.SetGCPercent(1)
		debug.SetGCPercent(p)
		return p
	}
}

func TestPacedPercent(t *testing.T) {
	withBallast(t)
	const mib = 1 << 20
	for name, c := range map[string]struct {
		busy bool
		used uint64
		want int
	}{
		"nothing in use":           {false, 0, 3},                  // 1 of 32 MiB
		"quiet":                    {false, 8 * mib, 10},           // 4 of 40 MiB
		"busy, little in use":      {true, 8 * mib, 40},            // 16 of 40
		"busy, a little more":      {true, 8*mib + 100<<10, 36},    //
		"busy, and more in use":    {true, 16 * mib, 32},           // 16 of 48
		"busy, and much in use":    {true, 100 * mib, 36},          // 50 of 132
		"busy with nothing in use": {true, 0, 48},                  // 16 of 32
		"very much in use":         {true, 1000 * ballastSize, 48}, // half of what is not ballast
	} {
		t.Run(name, func(t *testing.T) {
			if got := pacedPercent(c.busy, ballastSize+c.used); got != c.want {
				t.Errorf("%d, want %d", got, c.want)
			}
		})
	}
}

func TestTheOperatorsCollectorStays(t *testing.T) {
	before := debug.SetGCPercent(77)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	if tuneCollector([]string{"GOGC=77"}) || ballast != nil {
		t.Error("what the operator has set is paced")
	}
	if got := debug.SetGCPercent(before); got != 77 {
		t.Errorf("%d percent", got)
	}
}

// An operator's limit is for what the broker uses, and the ballast is not used.
func TestTheBallastIsAboveTheMemoryLimit(t *testing.T) {
	const operators = 1 << 30
	before := debug.SetMemoryLimit(operators)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	withBallast(t)
	if got := debug.SetMemoryLimit(-1); memory.GroupLimit() == 0 && got != operators+ballastSize {
		t.Errorf("the limit is %d", got)
	}
}

// Collections that follow each other closely are paced, and when they end everything is as before.
func TestPaceCollector(t *testing.T) {
	percent := withBallast(t)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go pace(ctx, nil)
		debug.FreeOSMemory() // of what other tests have left
		time.Sleep(time.Second)
		synctest.Wait()
		quiet := percent()
		for range manyRounds {
			debug.FreeOSMemory()
		}
		time.Sleep(time.Second)
		synctest.Wait()
		busy := percent()
		if busy <= quiet {
			t.Errorf("%d percent after many rounds, %d before", busy, quiet)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := percent(); got >= busy {
			t.Errorf("%d percent at rest, %d after many rounds", got, busy)
		}
	})
}

// How much may be left uncollected is looked at when something was collected, and not a second later.
func TestPaceAfterACollection(t *testing.T) {
	percent := withBallast(t)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		collected := make(chan struct{})
		go pace(ctx, collected)
		debug.FreeOSMemory() // of what other tests have left
		collected <- struct{}{}
		synctest.Wait()
		quiet := percent()
		much := make([]byte, 4*busyGarbage)
		debug.FreeOSMemory()
		collected <- struct{}{}
		synctest.Wait()
		if got := percent(); got <= quiet {
			t.Errorf("%d percent with much in use, %d before", got, quiet)
		}
		runtime.KeepAlive(much)
	})
}

func TestCollections(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	collected := collections(ctx)
	for range 3 {
		runtime.GC()
		<-collected
	}
	cancel()
}
