//go:build !linux

package main

import (
	"context"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

func startHolder(context.Context, options, streams) (stop func(), err error) {
	return nil, vfs.ErrUnsupported
}

func supervise(context.Context, options, streams) error { return vfs.ErrUnsupported }
