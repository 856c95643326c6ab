package main

import (
	"context"
	"runtime"
	"testing"
)

func allocate(bytes int) {
	var pieces [][]byte
	for range bytes >> 10 {
		pieces = append(pieces, make([]byte, 1<<10))
	}
	runtime.KeepAlive(pieces)
}

func TestMemoryIsReturnedAfterABurst(t *testing.T) {
	tidy := newTidier()
	for range 2 { // whatever the test's process has done before
		tidy.due()
	}
	for _, c := range []struct {
		name      string
		allocated int
		due       bool
	}{
		{"nothing happens", 0, false},
		{"a burst", 64 << 20, false},
		{"rest after a burst", 0, true},
		{"rest goes on", 0, false},
		{"a little", 64 << 10, false},
	} {
		allocate(c.allocated)
		if due := tidy.due(); due != c.due {
			t.Errorf("%s: due is %v, want %v", c.name, due, c.due)
		}
	}
}

func TestWhatRunsBesideTheBrokerEnds(t *testing.T) {
	ended := false
	beside(func(ctx context.Context) {
		newTidier().run(ctx)
		paceCollector(ctx)
		ended = true
	})()
	if !ended {
		t.Error("it goes on")
	}
}
