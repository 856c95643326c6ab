package compaction

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"math/bits"
)

const (
	entrySize = 24

	// maxShards bounds what growing takes for a moment: only one shard is there twice.
	maxShards     = 256
	minShardSlots = 1024 // so many slots are worth a further shard
	firstSlots    = 16   // of a shard with one key
)

// OffsetMap remembers the newest offset of each key (Kafka's SkimpyOffsetMap): 16 bytes of a hash and 8 of the offset, and at most nine tenths of
// the room are used. Two keys with one hash would lose a record, so the hash is SHA-256 with a salt that nobody knows: nobody can search for such keys, and
// chance does not find them.
type OffsetMap struct {
	digest hash.Hash
	salt   [sha256.Size]byte
	sum    [sha256.Size]byte

	shards     []shard
	shardSlots int // most slots of one shard
	room       int // keys that still have room
	keys       int
}

// shard is an open-addressed table with linear probing and at least one free slot.
type shard struct {
	entries []entry
	used    int
}

type entry struct {
	low, high uint64
	after     int64 // the offset behind the newest one; 0 = free
}

// NewOffsetMap returns a map of at most that many bytes. It takes them as keys come. There is always room for one key.
func NewOffsetMap(bytes int) *OffsetMap {
	slots := max(bytes/entrySize, 2)
	count := 1
	for count < maxShards && slots/(2*count) >= minShardSlots {
		count *= 2
	}
	m := &OffsetMap{digest: sha256.New(), shards: make([]shard, count), shardSlots: slots / count, room: max(int(int64(slots)*9/10), 1)}
	_, _ = rand.Read(m.salt[:]) // never fails
	return m
}

// Len returns the number of keys.
func (m *OffsetMap) Len() int { return m.keys }

// Put remembers the offset, at least 0, unless the key has a newer one. False: the key is new and the map is full; nothing has changed.
func (m *OffsetMap) Put(key []byte, offset int64) bool {
	low, high := m.hash(key)
	s := m.shard(low)
	if e := s.find(low, high); e != nil && e.after != 0 {
		e.after = max(e.after, offset+1)
		return true
	}
	if m.room == 0 || !s.makeRoom(m.shardSlots) {
		return false
	}
	*s.find(low, high) = entry{low, high, offset + 1}
	s.used++
	m.room--
	m.keys++
	return true
}

// Newest returns the newest offset of a key; false for one that was never put.
func (m *OffsetMap) Newest(key []byte) (offset int64, known bool) {
	low, high := m.hash(key)
	e := m.shard(low).find(low, high)
	if e == nil || e.after == 0 {
		return -1, false
	}
	return e.after - 1, true
}

func (m *OffsetMap) hash(key []byte) (low, high uint64) {
	m.digest.Reset()
	m.digest.Write(m.salt[:])
	m.digest.Write(key)
	sum := m.digest.Sum(m.sum[:0])
	return binary.LittleEndian.Uint64(sum), binary.LittleEndian.Uint64(sum[8:])
}

func (m *OffsetMap) shard(low uint64) *shard { return &m.shards[low&uint64(len(m.shards)-1)] }

// find returns the slot of the hash, or the free one where it belongs; nil in a shard without slots.
func (s *shard) find(low, high uint64) *entry {
	if len(s.entries) == 0 {
		return nil
	}
	slot, _ := bits.Mul64(high, uint64(len(s.entries)))
	for {
		e := &s.entries[slot]
		if e.after == 0 || e.low == low && e.high == high {
			return e
		}
		if slot++; slot == uint64(len(s.entries)) {
			slot = 0
		}
	}
}

// makeRoom grows the shard when it is nine tenths full. At its largest only one slot has to stay free: the map as a whole keeps the tenth.
func (s *shard) makeRoom(most int) bool {
	if s.used+1 <= len(s.entries)*9/10 {
		return true
	}
	if len(s.entries) == most {
		return s.used+1 < most
	}
	grown := shard{entries: make([]entry, min(max(2*len(s.entries), firstSlots), most))}
	for _, e := range s.entries {
		if e.after != 0 {
			*grown.find(e.low, e.high) = e
		}
	}
	s.entries = grown.entries
	return true
}
