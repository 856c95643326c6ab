package main

import (
	"runtime/debug"
	"slices"
	"strings"

	"github.com/kaas-rs/kaas/kaas-broker/internal/memory"
)

// garbagePercent is how much garbage there may be for each byte in use before it is collected. What the broker holds is mostly record bytes, which the
// collector need not look into: a round is cheap, so that there is no reason to let the memory double, as Go does by default.
const garbagePercent = 50

// tuneCollector leaves alone what the operator has set with GOGC or GOMEMLIMIT.
func tuneCollector(environ []string) {
	set := func(name string) bool {
		return slices.ContainsFunc(environ, func(entry string) bool { return strings.HasPrefix(entry, name+"=") })
	}
	if !set("GOGC") {
		debug.SetGCPercent(garbagePercent)
	}
	if limit := memory.GroupLimit(); limit > 0 && !set("GOMEMLIMIT") {
		// The rest is for what the runtime does not count: the program's own pages, and the kernel's buffers.
		debug.SetMemoryLimit(limit / 10 * 9)
	}
}
