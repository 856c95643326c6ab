//go:build unix

package main

import (
	"fmt"
	"syscall"
)

// allowedFiles is how many files this process may open. Go has raised the soft limit to the hard one already.
func allowedFiles() (int64, error) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0, fmt.Errorf("read limit on open files: %w", err)
	}
	return int64(min(limit.Cur, 1<<62)), nil
}
