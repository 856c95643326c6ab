//go:build !unix

package main

import (
	"github.com/rs/zerolog"

	"github.com/kaas-rs/kaas/kaas-broker/config"
)

// checkFileLimit has nothing to check where the system has no such limit.
func checkFileLimit(*config.Config, zerolog.Logger) error { return nil }
