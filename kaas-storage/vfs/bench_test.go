package vfs_test

import (
	"testing"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

const benchmarkFile = 16 << 20

// benchmarkWriteVec writes sixteen batches of 4 KiB at a time, round and round in one segment.
func benchmarkWriteVec(b *testing.B, fsys vfs.FS) {
	file := create(b, openDir(b, fsys, "."), "f", "")
	bufs := make([][]byte, 16)
	for i := range bufs {
		bufs[i] = make([]byte, 4<<10)
	}
	const size = 16 * 4 << 10
	b.SetBytes(size)
	b.ReportAllocs()
	off := int64(0)
	for b.Loop() {
		if _, err := file.WriteVec(bufs, off); err != nil {
			b.Fatal(err)
		}
		off = (off + size) % benchmarkFile
	}
}

func benchmarkReadAt(b *testing.B, fsys vfs.FS) {
	file := create(b, openDir(b, fsys, "."), "f", string(make([]byte, benchmarkFile)))
	buffer := make([]byte, 64<<10)
	b.SetBytes(int64(len(buffer)))
	b.ReportAllocs()
	off := int64(0)
	for b.Loop() {
		if _, err := file.ReadAt(buffer, off); err != nil {
			b.Fatal(err)
		}
		off = (off + int64(len(buffer))) % benchmarkFile
	}
}

func benchmarkCheck(b *testing.B, fsys vfs.FS) {
	dir := openDir(b, fsys, ".")
	must(b, dir.Mkdir("leader.00000001"))
	claim, err := dir.Hold("leader.00000001")
	must(b, err)
	defer claim.Close()
	b.ReportAllocs()
	for b.Loop() {
		if err := claim.Check(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMemWriteVec(b *testing.B) { benchmarkWriteVec(b, vfs.NewMem(0)) }
func BenchmarkMemReadAt(b *testing.B)   { benchmarkReadAt(b, vfs.NewMem(0)) }
func BenchmarkMemCheck(b *testing.B)    { benchmarkCheck(b, vfs.NewMem(0)) }
