package main

import (
	"context"
	"runtime"
	"runtime/debug"
	"testing"
	"testing/synctest"
	"time"
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

func TestPacedPercent(t *testing.T) {
	const mib = 1 << 20
	for name, c := range map[string]struct {
		busy bool
		live uint64
		want int
	}{
		"quiet":                    {false, 8 * mib, garbagePercent},
		"busy, little in use":      {true, 8 * mib, 192},
		"busy, a little more":      {true, 8*mib + 100<<10, 192},
		"busy, and more in use":    {true, 16 * mib, 96},
		"busy, and much in use":    {true, 100 * mib, garbagePercent},
		"busy with nothing in use": {true, 0, 960},
	} {
		t.Run(name, func(t *testing.T) {
			if got := pacedPercent(c.busy, c.live); got != c.want {
				t.Errorf("%d, want %d", got, c.want)
			}
		})
	}
}

func TestTheOperatorsCollectorStays(t *testing.T) {
	before := debug.SetGCPercent(77)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	if tuneCollector([]string{"GOGC=77"}) {
		t.Error("what the operator has set is paced")
	}
	if !tuneCollector([]string{"A=b"}) {
		t.Error("nothing is paced")
	}
	if got := debug.SetGCPercent(before); got != garbagePercent {
		t.Errorf("%d percent", got)
	}
}

// pacedAlone begins with what is usual, and returns what tells the present percentage.
func pacedAlone(t *testing.T) (percent func() int) {
	t.Helper()
	before := debug.SetGCPercent(garbagePercent)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	return func() int {
		p := debug.SetGCPercent(garbagePercent)
		debug.SetGCPercent(p)
		return p
	}
}

// Collections that follow each other closely are paced, and when they end everything is as before.
func TestPaceCollector(t *testing.T) {
	percent := pacedAlone(t)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go pace(ctx, nil)
		synctest.Wait()
		for range manyRounds {
			debug.FreeOSMemory()
		}
		time.Sleep(1001 * time.Millisecond)
		if got := percent(); got <= garbagePercent {
			t.Errorf("%d percent after many rounds", got)
		}
		time.Sleep(2 * time.Second)
		if got := percent(); got != garbagePercent {
			t.Errorf("%d percent at rest", got)
		}
	})
}

// What a busy broker may leave uncollected shrinks as soon as more is in use, and not a second later.
func TestPaceAfterACollection(t *testing.T) {
	percent := pacedAlone(t)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		collected := make(chan struct{})
		go pace(ctx, collected)
		synctest.Wait()
		for range manyRounds {
			debug.FreeOSMemory()
		}
		time.Sleep(1001 * time.Millisecond)
		if got := percent(); got <= garbagePercent {
			t.Errorf("%d percent after many rounds", got)
		}
		much := make([]byte, 4*busyGarbage)
		debug.FreeOSMemory()
		collected <- struct{}{}
		synctest.Wait()
		if got := percent(); got != garbagePercent {
			t.Errorf("%d percent with much in use", got)
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
