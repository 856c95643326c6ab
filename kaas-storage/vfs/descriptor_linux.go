package vfs

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// descriptor is an opened file descriptor. The os.File around it keeps the
// number from being reused while a call is using it, and answers
// fs.ErrClosed afterwards.
type descriptor struct {
	file  *os.File
	raw   syscall.RawConn
	path  string
	spare atomic.Pointer[systemCall] // for the next use: every commit makes some
}

// systemCall is a call on its way through the runtime, which takes a function and nothing else.
type systemCall struct {
	call func(fd int) error
	err  error
	run  func(fd uintptr)
}

func newSystemCall() *systemCall {
	s := new(systemCall)
	s.run = func(fd uintptr) {
		for {
			s.err = s.call(int(fd))
			if !errors.Is(s.err, unix.EINTR) {
				return
			}
		}
	}
	return s
}

func newDescriptor(fd int, path string) (*descriptor, error) {
	file := os.NewFile(uintptr(fd), path)
	raw, err := file.SyscallConn()
	if err != nil {
		file.Close()
		return nil, err
	}
	return &descriptor{file: file, raw: raw, path: path}, nil
}

// use runs a system call, again as long as a signal interrupts it, and wraps
// its error with the operation and the path of the name.
func (d *descriptor) use(operation, name string, call func(fd int) error) error {
	system := d.spare.Swap(nil)
	if system == nil {
		system = newSystemCall()
	}
	system.call = call
	err := d.raw.Control(system.run)
	callErr := system.err
	system.call, system.err = nil, nil
	d.spare.Store(system)
	if err != nil {
		// The call did not run. That is so for closed files only, which
		// Control reports by an error of its own.
		callErr = fs.ErrClosed
	}
	if callErr != nil {
		return pathError(operation, d.path, name, callErr)
	}
	return nil
}

func (d *descriptor) close() error { return d.file.Close() }

// openAt opens a name relative to the directory. O_CLOEXEC and O_NOFOLLOW are added.
func (d *descriptor) openAt(operation, name string, flags int, mode uint32) (*descriptor, error) {
	var opened int
	err := d.use(operation, name, func(fd int) (err error) {
		opened, err = unix.Openat(fd, name, flags|unix.O_CLOEXEC|unix.O_NOFOLLOW, mode)
		return err
	})
	if err != nil {
		return nil, err
	}
	return newDescriptor(opened, path.Join(d.path, name))
}

// stat asks for attributes: of the descriptor itself when the name is empty.
func (d *descriptor) stat(operation, name string, flags int) (unix.Statx_t, error) {
	var stat unix.Statx_t
	err := d.use(operation, name, func(fd int) error {
		return unix.Statx(fd, name, flags|unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BASIC_STATS, &stat)
	})
	return stat, err
}

// force asks the server for the descriptor's own attributes, past every cache.
func (d *descriptor) force(operation string) (unix.Statx_t, error) {
	return d.stat(operation, "", unix.AT_EMPTY_PATH|unix.AT_STATX_FORCE_SYNC)
}

func retry(open func() (int, error)) (int, error) {
	for {
		fd, err := open()
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}
