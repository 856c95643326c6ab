package fileserver_test

import (
	"testing"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
	"github.com/kaas-rs/kaas/kaas-storage/vfs/fileserver"
	"github.com/kaas-rs/kaas/kaas-storage/vfs/vfstest"
)

func always() bool { return true }

// One client alone sees no difference to a local disk, whatever its caches do.
func TestOneClientConforms(t *testing.T) {
	for name, policy := range map[string]fileserver.Policy{
		"fresh":              {},
		"caches":             {Stale: always, Attributes: always},
		"writes are delayed": {Stale: always, Delay: always},
	} {
		t.Run(name, func(t *testing.T) {
			vfstest.Run(t, func(*testing.T) vfs.FS { return fileserver.New(policy).Client("one").Process("p") })
		})
	}
}
