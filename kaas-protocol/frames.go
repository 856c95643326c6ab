package protocol

import (
	"math/bits"
	"sync"
)

// Frames of at least pooledFrom bytes are worth keeping; above pooledTo they are rare and left to the
// collector.
const (
	pooledFrom = 1 << 14
	pooledTo   = 1 << 24
)

// classBits is the binary logarithm of the number of size classes between one power of two and the next. A frame has at most a quarter more room
// than was asked for.
const classBits = 2

// framePool keeps frames that a handler has given back, by size class, so that a small request never holds
// on to a large frame. What is not taken again is the collector's after two of its rounds: the pool does not hold on to a peak.
type framePool struct {
	classes [(bits.UintSize + 1) << classBits]sync.Pool // of *[]byte
	handles sync.Pool                                   // of *[]byte that hold no frame
}

// frameClass returns the class of frames that hold size bytes, and their capacity. size is at least pooledFrom.
func frameClass(size int) (class, capacity int) {
	length := bits.Len(uint(size - 1)) // size is in (1<<(length-1), 1<<length]
	step := length - 1 - classBits
	count := (size-1)>>step + 1
	return length<<classBits | count&(1<<classBits-1), count << step
}

// get returns an empty frame that holds size bytes.
func (f *framePool) get(size int) []byte {
	if size < pooledFrom || size > pooledTo {
		return make([]byte, 0, size)
	}
	class, capacity := frameClass(size)
	if handle, found := f.classes[class].Get().(*[]byte); found {
		frame := *handle
		*handle = nil
		f.handles.Put(handle)
		return frame
	}
	return make([]byte, 0, capacity)
}

// grown returns a frame of at least size bytes' capacity that begins with what is in the smaller frame, which it takes back.
func (f *framePool) grown(smaller []byte, size int) []byte {
	frame := append(f.get(size), smaller...)
	f.put(smaller)
	return frame
}

// put takes a frame that nobody refers to any more. Frames that get has not made are not kept.
func (f *framePool) put(frame []byte) {
	if cap(frame) < pooledFrom || cap(frame) > pooledTo {
		return
	}
	class, capacity := frameClass(cap(frame))
	if capacity != cap(frame) {
		return
	}
	handle, found := f.handles.Get().(*[]byte)
	if !found {
		handle = new([]byte)
	}
	*handle = frame[:0]
	f.classes[class].Put(handle)
}
