//go:build !linux

package storage_test

func diskFileSystems() []benchmarked { return nil }
