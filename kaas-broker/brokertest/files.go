package brokertest

import (
	"sync"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// fileHooks stands between the broker and its files.
type fileHooks struct {
	mutex sync.RWMutex
	hook  vfs.Hook
}

func (f *fileHooks) wrap(fs vfs.FS) vfs.FS { return vfs.NewFault(fs, f.call) }

func (f *fileHooks) call(op vfs.Op) error {
	f.mutex.RLock()
	hook := f.hook
	f.mutex.RUnlock()
	if hook == nil {
		return nil
	}
	return hook(op)
}

// HookFiles calls hook before and after each file operation of the broker from now on; see vfs.Hook for what it may do. An error of it is an error of
// the file system: syscall.ENOSPC for a write is a full disk, syscall.EIO for a sync a broken one. It replaces an earlier hook; nil ends it.
// The hook must not call the broker.
func (b *Broker) HookFiles(hook vfs.Hook) {
	b.files.mutex.Lock()
	defer b.files.mutex.Unlock()
	b.files.hook = hook
}
