//go:build unix

package main

import (
	"fmt"
	"syscall"

	"github.com/rs/zerolog"

	"github.com/kaas-rs/kaas/kaas-broker/config"
)

const (
	// neededFiles is the least with which a small broker works: claims, segments in use, connections.
	neededFiles = 256
	// wantedFiles is enough for a few thousand partitions and connections.
	wantedFiles = 10_000
)

// checkFileLimit refuses a limit on open files with which the broker would fail in the middle of its work, and warns of a low one. Go has
// raised the soft limit to the hard one already.
func checkFileLimit(_ *config.Config, log zerolog.Logger) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("read limit on open files: %w", err)
	}
	allowed := uint64(limit.Cur) //nolint:unconvert // int64 on some systems
	if allowed < neededFiles {
		return fmt.Errorf("only %d open files are allowed, at least %d are needed: raise the limit (ulimit -n %d)", allowed, neededFiles, wantedFiles)
	}
	if allowed < wantedFiles {
		log.Warn().Uint64("allowed", allowed).Int("wanted", wantedFiles).
			Msg("few open files are allowed: each partition needs two and each connection one; raise the limit (ulimit -n)")
	}
	return nil
}
