package compaction

// OffsetMap remembers the newest offset of each key, by a hash of 16 bytes (Kafka's SkimpyOffsetMap). An entry takes 24 bytes, and at most nine tenths of
// the room are used.
//
// Not filled yet: it is always full.
type OffsetMap struct{}

// NewOffsetMap returns a map of at most that many bytes. It grows with what is put in. There is always room for one key.
func NewOffsetMap(bytes int) *OffsetMap { return &OffsetMap{} }

// Put remembers the offset, unless the key has a newer one. False: the key is new and the map full; nothing has changed.
func (m *OffsetMap) Put(key []byte, offset int64) bool { return false }

// Newest returns the newest offset of a key.
func (m *OffsetMap) Newest(key []byte) (int64, bool) { return 0, false }
