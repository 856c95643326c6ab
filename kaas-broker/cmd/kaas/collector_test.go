package main

import (
	"context"
	"runtime/debug"
	"testing"
	"testing/synctest"
	"time"
)

func TestPacedPercent(t *testing.T) {
	const mib = 1 << 20
	for name, c := range map[string]struct {
		percent      int
		rounds, live uint64
		want         int
	}{
		"quiet":                           {garbagePercent, 0, 8 * mib, garbagePercent},
		"some rounds":                     {garbagePercent, manyRounds - 1, 8 * mib, garbagePercent},
		"many rounds, little in use":      {garbagePercent, manyRounds, 8 * mib, 200},
		"many rounds, much in use":        {garbagePercent, 20, 100 * mib, garbagePercent},
		"nothing in use":                  {garbagePercent, 20, 0, maxPercent},
		"fewer rounds, because of it":     {200, fewRounds + 1, 8 * mib, 200},
		"fewer rounds, and more in use":   {200, fewRounds + 1, 16 * mib, 100},
		"quiet again":                     {200, fewRounds, 8 * mib, garbagePercent},
		"quiet again, with little in use": {maxPercent, 0, 1, garbagePercent},
	} {
		t.Run(name, func(t *testing.T) {
			if got := pacedPercent(c.percent, c.rounds, c.live); got != c.want {
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

// Collections that follow each other closely are paced, and when they end everything is as before.
func TestPaceCollector(t *testing.T) {
	before := debug.SetGCPercent(garbagePercent)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	percent := func() int {
		p := debug.SetGCPercent(garbagePercent)
		debug.SetGCPercent(p)
		return p
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go paceCollector(ctx)
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
