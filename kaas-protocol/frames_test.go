package protocol

import "testing"

func TestFrameClasses(t *testing.T) {
	last, seen := 0, map[int]int{}
	for size := pooledFrom; size <= pooledTo; size += 1 + size/100 {
		class, capacity := frameClass(size)
		if capacity < size || capacity > size+size/4 {
			t.Fatalf("a frame for %d bytes has room for %d", size, capacity)
		}
		if capacity < last {
			t.Fatalf("a frame for %d bytes has room for %d, one for fewer for %d", size, capacity, last)
		}
		last = capacity
		if other, known := seen[class]; known && other != capacity {
			t.Fatalf("frames of %d and %d bytes share class %d", other, capacity, class)
		}
		seen[class] = capacity
		if again, same := frameClass(capacity); again != class || same != capacity {
			t.Fatalf("a frame for %d bytes, of class %d, is put into class %d", size, class, again)
		}
	}
}

func TestFramePoolTakesWhatItGave(t *testing.T) {
	pool := &framePool{}
	for _, size := range []int{pooledFrom, 100_000, 1_000_123, 1<<20 - 200, pooledTo} {
		if !reuses(pool, size) {
			t.Errorf("no frame for %d bytes was used again", size)
		}
	}
	for _, size := range []int{0, pooledFrom - 1, pooledTo + 1} {
		if frame := pool.get(size); cap(frame) < size || len(frame) != 0 {
			t.Errorf("asked for %d bytes, got %d of %d", size, len(frame), cap(frame))
		}
		if reuses(pool, size) {
			t.Errorf("a frame for %d bytes was kept", size)
		}
	}
	pool.put(make([]byte, 0, 70_000))
	if frame := pool.get(70_000); cap(frame) == 70_000 {
		t.Error("a frame that the pool has not made was kept")
	}
}

// reuses tries more than once: the race detector makes pools forget.
func reuses(pool *framePool, size int) bool {
	for range 100 {
		frame := pool.get(size)
		if cap(frame) == 0 {
			return false
		}
		frame = frame[:1]
		frame[0] = 0xff
		pool.put(frame)
		if again := pool.get(size); len(again) == 0 && again[:1][0] == 0xff {
			return true
		}
	}
	return false
}

func TestGrownFrameKeepsItsBytes(t *testing.T) {
	pool := &framePool{}
	frame := append(pool.get(pooledFrom), "records"...)
	if grown := pool.grown(frame, 1_000_000); string(grown) != "records" || cap(grown) < 1_000_000 {
		t.Errorf("%d bytes of %d", len(grown), cap(grown))
	}
}
