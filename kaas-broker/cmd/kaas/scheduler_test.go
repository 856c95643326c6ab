package main

import (
	"runtime"
	"testing"
)

func TestTheOperatorsNumberOfProcessorsStays(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	if tuneScheduler([]string{"A=b", "GOMAXPROCS=3"}); runtime.GOMAXPROCS(0) != before {
		t.Errorf("%d processors became %d", before, runtime.GOMAXPROCS(0))
	}
	if tuneScheduler([]string{"A=b"}); runtime.GOMAXPROCS(0) <= before {
		t.Errorf("%d processors became %d", before, runtime.GOMAXPROCS(0))
	}
}
