package vfs

import (
	"errors"
	"os"
)

// faultFile is an opened file of a Fault.
type faultFile struct {
	fault *Fault
	inner File
	path  string
}

func (f *faultFile) op(kind OpKind, off, size int64) Op {
	return Op{Kind: kind, Path: f.path, Name: f.inner.Name(), Offset: off, Size: size}
}

func (f *faultFile) Name() string { return f.inner.Name() }

// OSFile returns nil, so that no read gets past the hook.
func (f *faultFile) OSFile() *os.File { return nil }

func (f *faultFile) ReadAt(p []byte, off int64) (n int, err error) {
	op := f.op(OpReadAt, off, int64(len(p)))
	if err := f.fault.before(op); err != nil {
		return 0, err
	}
	n, err = f.inner.ReadAt(p, off)
	return n, f.fault.after(op, err)
}

func (f *faultFile) WriteAt(p []byte, off int64) (int, error) {
	n, err := f.write(f.op(OpWriteAt, off, int64(len(p))), func(size int64) (int64, error) {
		n, err := f.inner.WriteAt(p[:size], off)
		return int64(n), err
	})
	return int(n), err
}

func (f *faultFile) WriteVec(bufs [][]byte, off int64) (int64, error) {
	var size int64
	for _, buf := range bufs {
		size += int64(len(buf))
	}
	return f.write(f.op(OpWriteVec, off, size), func(size int64) (int64, error) {
		return f.inner.WriteVec(firstBytes(bufs, size), off)
	})
}

// write carries out a write of as many bytes as the hook allows. A short write
// that the hook asked for is what it reports, unless writing fails earlier.
func (f *faultFile) write(op Op, call func(size int64) (int64, error)) (int64, error) {
	size := op.Size
	injected := f.fault.before(op)
	var short ErrShortWrite
	if errors.As(injected, &short) {
		size = max(0, min(size, short.N))
	} else if injected != nil {
		return 0, injected
	}
	n, err := call(size)
	if err == nil {
		err = injected
	}
	return n, f.fault.after(op, err)
}

// firstBytes returns bufs cut to size bytes, without changing them.
func firstBytes(bufs [][]byte, size int64) [][]byte {
	var cut [][]byte
	for _, buf := range bufs {
		buf = buf[:min(int64(len(buf)), size)]
		size -= int64(len(buf))
		cut = append(cut, buf)
	}
	return cut
}

func (f *faultFile) Sync() error { return f.fault.run(f.op(OpSync, 0, 0), f.inner.Sync) }

func (f *faultFile) Size() (size int64, err error) {
	err = f.fault.run(f.op(OpSize, 0, 0), func() (err error) {
		size, err = f.inner.Size()
		return err
	})
	return size, err
}

// Extend implements Extender where the wrapped file does.
func (f *faultFile) Extend(off, size int64) error {
	extender, can := f.inner.(Extender)
	if !can {
		return ErrNoPreallocation
	}
	return f.fault.run(f.op(OpExtend, off, size), func() error { return extender.Extend(off, size) })
}

// Truncate implements Extender where the wrapped file does.
func (f *faultFile) Truncate(size int64) error {
	extender, can := f.inner.(Extender)
	if !can {
		return ErrNoPreallocation
	}
	return f.fault.run(f.op(OpTruncate, size, 0), func() error { return extender.Truncate(size) })
}

func (f *faultFile) Close() error { return f.fault.closing(f.op(OpCloseFile, 0, 0), f.inner) }
