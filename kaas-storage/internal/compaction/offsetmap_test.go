package compaction_test

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"testing"

	"github.com/kaas-rs/kaas/kaas-storage/internal/compaction"
)

func TestOffsetMap(t *testing.T) {
	m := compaction.NewOffsetMap(roomy)
	if offset, known := m.Newest([]byte("a")); known || m.Len() != 0 {
		t.Errorf("empty map knows a: %d", offset)
	}
	for _, put := range []struct {
		key    string
		offset int64
	}{{"a", 0}, {"b", 1}, {"", 2}, {"a", 5}, {"a", 3}} {
		if !m.Put([]byte(put.key), put.offset) {
			t.Fatalf("no room for %q", put.key)
		}
	}
	for key, want := range map[string]int64{"a": 5, "b": 1, "": 2, "c": -1} {
		if offset, known := m.Newest([]byte(key)); offset != want || known != (want >= 0) {
			t.Errorf("%q: %d, %v", key, offset, known)
		}
	}
	if m.Len() != 3 {
		t.Errorf("%d keys", m.Len())
	}
}

func number(i int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(i)) }

func TestOffsetMapIsBounded(t *testing.T) {
	for bytes, want := range map[int]int{-1: 1, 0: 1, 24: 1, 48: 1, 240: 9, 24_000: 900, 1 << 20: 39321} {
		t.Run(fmt.Sprintf("%d bytes", bytes), func(t *testing.T) {
			m := compaction.NewOffsetMap(bytes)
			n := 0
			for m.Put(number(n), int64(n)) {
				n++
			}
			if n != want || m.Len() != n {
				t.Errorf("room for %d keys, want %d", n, want)
			}
			if m.Put(number(n+1), 1) || m.Len() != n {
				t.Error("a full map took a new key")
			}
			if !m.Put(number(0), 1<<40) {
				t.Error("a full map refused a known key")
			}
			for i := 1; i < n; i++ {
				if offset, known := m.Newest(number(i)); !known || offset != int64(i) {
					t.Fatalf("key %d: %d, %v", i, offset, known)
				}
			}
			if _, known := m.Newest(number(n)); known {
				t.Error("knows a key that found no room")
			}
		})
	}
}

func TestOffsetMapTakesItsMemoryAsKeysCome(t *testing.T) {
	const budget = 4 << 20
	before := heap()
	m := compaction.NewOffsetMap(budget)
	for i := range 1000 {
		m.Put(number(i), int64(i))
	}
	if grown := heap() - before; grown > 1<<20 {
		t.Errorf("1,000 keys take %d bytes", grown)
	}
	n := 1000
	for m.Put(number(n), int64(n)) {
		n++
	}
	if grown := heap() - before; grown > budget+budget/16 {
		t.Errorf("full, it takes %d bytes of %d", grown, budget)
	}
	runtime.KeepAlive(m)
}

func heap() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

func TestOffsetMapAllocatesNothing(t *testing.T) {
	m := compaction.NewOffsetMap(roomy)
	key := []byte("a key of some length, as keys are")
	m.Put(key, 1)
	if allocs := testing.AllocsPerRun(100, func() { m.Put(key, 2); m.Newest(key) }); allocs > 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func BenchmarkOffsetMapPut(b *testing.B) {
	b.ReportAllocs()
	m := compaction.NewOffsetMap(16 << 20)
	key := make([]byte, 16)
	for i := 0; b.Loop(); i++ {
		binary.BigEndian.PutUint64(key, uint64(i%500_000))
		m.Put(key, int64(i))
	}
}
