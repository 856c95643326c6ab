package harness

import (
	"fmt"
	"syscall"
	"testing"
)

// Volume is a file system of its own, in memory, of so many bytes, until the test ends. Whoever may not mount skips the test.
func Volume(t testing.TB, size int64, readOnly bool) string {
	t.Helper()
	dir := t.TempDir()
	var flags uintptr
	if readOnly {
		flags = syscall.MS_RDONLY
	}
	if err := syscall.Mount("kaas-test", dir, "tmpfs", flags, fmt.Sprintf("size=%d", size)); err != nil {
		t.Skipf("needs the right to mount a file system: %v", err)
	}
	t.Cleanup(func() {
		// The broker stops in a cleanup function that was registered later, so nothing is open here any more.
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmount %s: %v", dir, err)
		}
	})
	return dir
}
