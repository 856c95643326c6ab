package storage_test

import (
	"testing"

	"github.com/kaas-rs/kaas/kaas-storage/storagetest"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
	"github.com/kaas-rs/kaas/kaas-storage/vfs/fileserver"
)

func TestConformsInMemory(t *testing.T) {
	storagetest.Run(t, func(*testing.T) vfs.FS { return vfs.NewMem(64 << 20) })
}

func TestConformsOnACrashableFileSystem(t *testing.T) {
	storagetest.Run(t, func(*testing.T) vfs.FS { return vfs.NewCrash(64 << 20) })
}

func TestConformsOnAFileServer(t *testing.T) {
	storagetest.Run(t, func(*testing.T) vfs.FS { return fileserver.New(fileserver.Policy{}).Client("one").Process("p") })
}
