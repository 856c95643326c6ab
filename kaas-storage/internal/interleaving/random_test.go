package interleaving

import (
	"fmt"
	"os"
	"runtime/pprof"
	"strconv"
	"testing"
	"testing/synctest"
	"time"
)

// number reads an environment variable.
func number(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// Long programs under random schedules. KAAS_SEEDS says how many, KAAS_SEED runs one and prints it.
func TestRandomSchedules(t *testing.T) {
	if seed := number(t, "KAAS_SEED", 0); seed > 0 {
		out := runSeed(t, seed)
		t.Log(out)
		if out.verdict != nil {
			t.Fail()
		}
		return
	}
	const workers = 2
	seeds := number(t, "KAAS_SEEDS", 6000)
	for worker := range uint64(workers) {
		t.Run(fmt.Sprintf("seeds %d to %d, every second", worker+1, seeds), func(t *testing.T) {
			t.Parallel()
			for seed := worker + 1; seed <= seeds; seed += workers {
				if out := runSeed(t, seed); out.verdict != nil {
					t.Fatalf("KAAS_SEED=%d: %v", seed, out)
				}
			}
		})
	}
}

// runSeed ends the process when a run hangs, which a deadlock on a mutex does unnoticed by synctest.
func runSeed(t *testing.T, seed uint64) (out outcome) {
	hung := time.AfterFunc(time.Minute, func() { hangs(seed) })
	defer hung.Stop()
	synctest.Test(t, func(*testing.T) {
		plan, choose := randomPlan(seed)
		out = run(plan, choose)
	})
	return out
}

func hangs(seed uint64) {
	fmt.Fprintf(os.Stderr, "KAAS_SEED=%d hangs\n", seed)
	_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 1)
	os.Exit(2)
}
