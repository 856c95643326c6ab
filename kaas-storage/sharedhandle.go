package storage

import (
	"io"
	"io/fs"
	"sync"
	"sync/atomic"
)

// sharedHandle opens something when it is first needed, shares the handle, and closes it when it has been idle or is to go.
// It exists because idle partitions keep nothing open but their claim, and because a file must be closed before it is unlinked:
// NFS only renames what is still open.
type sharedHandle[H io.Closer] struct {
	opened atomic.Bool // there is a handle, for a look without the lock

	mu      sync.Mutex // never held across a file call: who waits for it must not wait for a file server
	handle  H
	opening chan struct{} // closed when the user who opens is done; nil while nobody does
	users   int
	used    bool   // since the last closeIdle
	doomed  func() // runs once nobody uses the handle any more
}

// opener makes the handle that is shared. It is called by one user at a time and without any lock.
type opener[H io.Closer] interface{ open() (H, error) }

// use returns the handle, which o makes if there is none; release must follow.
func (h *sharedHandle[H]) use(o opener[H]) (handle H, err error) {
	h.mu.Lock()
	for h.opening != nil {
		opening := h.opening
		h.mu.Unlock()
		<-opening
		h.mu.Lock()
	}
	if h.doomed != nil {
		h.mu.Unlock()
		return handle, fs.ErrNotExist
	}
	h.users++ // from here on doom waits for release
	h.used = true
	if h.opened.Load() {
		defer h.mu.Unlock()
		return h.handle, nil
	}
	h.opening = make(chan struct{})
	h.mu.Unlock()
	opened, err := o.open()
	h.openDone(opened, err)
	if err != nil {
		h.release()
		return handle, err
	}
	return opened, nil
}

func (h *sharedHandle[H]) openDone(opened H, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	close(h.opening)
	h.opening = nil
	if err == nil {
		h.handle = opened
		h.opened.Store(true)
	}
}

func (h *sharedHandle[H]) release() {
	h.mu.Lock()
	h.users--
	finish := h.finishLocked()
	h.mu.Unlock()
	if finish != nil {
		finish()
	}
}

// doom closes the handle as soon as nobody uses it and then runs then, once, on whichever goroutine was last.
func (h *sharedHandle[H]) doom(then func()) {
	h.mu.Lock()
	if h.doomed != nil {
		h.mu.Unlock()
		return
	}
	h.doomed = then
	finish := h.finishLocked()
	h.mu.Unlock()
	if finish != nil {
		finish()
	}
}

// finishLocked returns what is to be done without the lock, nil for nothing.
func (h *sharedHandle[H]) finishLocked() func() {
	if h.doomed == nil || h.users > 0 {
		return nil
	}
	closeHandle, then := h.detachLocked(), h.doomed
	return func() {
		closeHandle()
		then()
	}
}

// closeIdle closes the handle if nobody has used it since the last call.
func (h *sharedHandle[H]) closeIdle() { h.closeUnless(func() bool { return h.used }) }

// closeUnused closes the handle if nobody is using it: for who is done with a file that is seldom wanted again.
func (h *sharedHandle[H]) closeUnused() { h.closeUnless(func() bool { return false }) }

// closeUnless closes the handle if nobody is using it and it is not wanted for another reason.
func (h *sharedHandle[H]) closeUnless(wantedLocked func() bool) {
	closeHandle := func() {}
	h.mu.Lock()
	if h.users == 0 && !wantedLocked() {
		closeHandle = h.detachLocked()
	}
	h.used = false
	h.mu.Unlock()
	closeHandle()
}

// detachLocked returns the closing. It ignores a close error, which says nothing new: what had to be durable was synced, with its own check.
func (h *sharedHandle[H]) detachLocked() func() {
	if !h.opened.Load() {
		return func() {}
	}
	var none H
	handle := h.handle
	h.handle = none
	h.opened.Store(false)
	return func() { _ = handle.Close() }
}
