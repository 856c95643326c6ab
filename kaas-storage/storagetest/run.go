package storagetest

import (
	"testing"
	"testing/synctest"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// Run tests the engine over the file system that open makes, an empty one for each call. What open makes is closed by Run.
func Run(t *testing.T, open func(t *testing.T) vfs.FS) {
	t.Helper()
	for _, group := range []struct {
		name  string
		tests []test
	}{
		{"append and read", appendTests()},
		{"segments", segmentTests()},
		{"reopening", reopenTests()},
		{"owners", ownerTests()},
		{"leader epochs", epochTests()},
		{"producers", producerTests()},
		{"transactions", transactionTests()},
		{"timestamps", timestampTests()},
		{"delete records", deleteRecordsTests()},
		{"retention", retentionTests()},
		{"deletion", deletionTests()},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, test := range group.tests {
				t.Run(test.name, func(t *testing.T) { test.start(t, open) })
			}
		})
	}
}

// test is one named case.
type test struct {
	name    string
	virtual bool // on a virtual clock
	run     func(s *scene)
}

func (c test) start(t *testing.T, open func(t *testing.T) vfs.FS) {
	if !c.virtual {
		c.run(newScene(t, open(t)))
		return
	}
	synctest.Test(t, func(t *testing.T) { c.run(newScene(t, open(t))) })
}
