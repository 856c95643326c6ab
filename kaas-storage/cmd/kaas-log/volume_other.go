//go:build !linux

package main

import "github.com/kaas-rs/kaas/kaas-storage/vfs"

func describeVolume(path string, _ vfs.FS) string { return path }
