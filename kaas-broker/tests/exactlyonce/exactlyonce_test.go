package exactlyonce

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"testing/synctest"
	"time"
)

// TestExactlyOnce plays seeds in memory, in virtual time. KAAS_SEEDS says how many, KAAS_SEED plays one.
func TestExactlyOnce(t *testing.T) {
	if !fitsInBubble {
		t.Parallel()
		runInBubble(t)
		return
	}
	from, to := uint64(1), number(t, "KAAS_SEEDS", seeds())+1
	if only := number(t, "KAAS_SEED", 0); only > 0 {
		from, to = only, only+1
	}
	for seed := from; seed < to; seed++ {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { playInMemory(t, seed) })
		})
	}
}

// seeds are 200 where the clients' tests run for each change, and 2000 in a soak.
func seeds() uint64 {
	switch {
	case os.Getenv("KAAS_SOAK") == "1":
		return 2000
	case os.Getenv("KAAS_REQUIRE_CLIENTS") == "1":
		return 200
	case testing.Short():
		return 5
	}
	return 20
}

// runInBubble runs this test with the build tag that it needs.
func runInBubble(t *testing.T) {
	patience := "15m"
	if os.Getenv("KAAS_SOAK") == "1" {
		patience = "80m"
	}
	arguments := []string{"test", "-tags", "synctests", "-count", "1", "-run", "^" + t.Name() + "$", "-timeout", patience}
	if testing.Short() {
		arguments = append(arguments, "-short")
	}
	if raced {
		arguments = append(arguments, "-race")
	}
	command := exec.CommandContext(t.Context(), "go", append(arguments, ".")...)
	command.Env = append(os.Environ(), "GOWORK=off")
	if output, err := command.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, bytes.TrimSpace(output))
	}
}

func playInMemory(t *testing.T, seed uint64) {
	began := time.Now()
	w := newMemory(t, seed, mistake{})
	r := newRun(t, fmt.Sprintf("seed %d: ", seed), w, seed, 12)
	r.play()
	w.end()
	t.Logf("seed %d: %v, %v of virtual time", seed, r.ledger, time.Since(began))
}

func number(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
