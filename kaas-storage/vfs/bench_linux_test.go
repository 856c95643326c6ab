package vfs_test

import "testing"

func BenchmarkOSWriteVec(b *testing.B) { benchmarkWriteVec(b, openOS(b, b.TempDir())) }
func BenchmarkOSReadAt(b *testing.B)   { benchmarkReadAt(b, openOS(b, b.TempDir())) }
func BenchmarkOSCheck(b *testing.B)    { benchmarkCheck(b, openOS(b, b.TempDir())) }
