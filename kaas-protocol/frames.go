package protocol

import (
	"math/bits"
	"sync"
)

// Frames of at least pooledFrom bytes are worth keeping; above pooledTo they are rare and left to the
// collector.
const (
	pooledFrom = 1 << 14
	pooledTo   = 1 << 21
)

// framePool keeps frames that a handler has given back, by size class, so that a small request never holds
// on to a large frame.
type framePool struct {
	classes [bits.UintSize]sync.Pool
}

// get returns a frame that holds size bytes, or nil.
func (f *framePool) get(size int) []byte {
	if size < pooledFrom || size > pooledTo {
		return nil
	}
	frame, found := f.classes[bits.Len(uint(size-1))].Get().(*[]byte)
	if !found {
		return nil
	}
	return *frame
}

// grown returns a frame of size bytes' capacity that begins with what is in the smaller frame, which it takes back.
func (f *framePool) grown(smaller []byte, size int) []byte {
	frame := f.get(size)
	if frame == nil {
		frame = make([]byte, 0, size)
	}
	frame = append(frame[:0], smaller...)
	f.put(smaller)
	return frame
}

// put takes a frame that nobody refers to any more.
func (f *framePool) put(frame []byte) {
	if cap(frame) < pooledFrom || cap(frame) > pooledTo {
		return
	}
	frame = frame[:0]
	// Rounded down: whatever is taken from a class holds what is asked of it.
	f.classes[bits.Len(uint(cap(frame)))-1].Put(&frame)
}
