package harness

import (
	"os"
	"testing"
)

// Rounds is how often a test does what it repeats: a few times as part of every run, many times with KAAS_SOAK=1.
func Rounds(usually, soak int) int {
	if os.Getenv("KAAS_SOAK") == "1" {
		return soak
	}
	return usually
}

// Long skips a test that takes too long for every change: it runs with KAAS_LONG=1 or KAAS_SOAK=1.
func Long(t testing.TB) {
	t.Helper()
	if os.Getenv("KAAS_LONG") != "1" && os.Getenv("KAAS_SOAK") != "1" {
		t.Skip("is long: make test-clients-long")
	}
}
