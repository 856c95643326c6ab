package harness

import "os"

// Rounds is how often a test does what it repeats: a few times as part of every run, many times with KAAS_SOAK=1.
func Rounds(usually, soak int) int {
	if os.Getenv("KAAS_SOAK") == "1" {
		return soak
	}
	return usually
}
