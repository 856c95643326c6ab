package group

import "sync/atomic"

// Room bounds what the members of all groups keep in memory, in bytes of what they offer and are assigned. Members with no more than usualMember are not
// counted, and always have room: a few that take much must not keep the many out. It is safe for concurrent use; a nil Room has no bound.
//
// Groups that ask at the same time may pass the limit together.
type Room struct {
	limit int64
	used  atomic.Int64
}

// usualMember is what members take that nobody counts. Those of Kafka's clients take some hundred bytes, Connect's workers some thousand.
const usualMember = 64 << 10

// NewRoom returns an empty room of so many bytes.
func NewRoom(limit int64) *Room { return &Room{limit: limit} }

// Used is how many bytes are taken.
func (r *Room) Used() int64 {
	if r == nil {
		return 0
	}
	return r.used.Load()
}

// has reports whether there is room for more, which nobody refuses to give back.
func (r *Room) has(more int64) bool {
	return r == nil || more <= 0 || r.used.Load()+more <= r.limit
}

func (r *Room) take(more int64) {
	if r != nil {
		r.used.Add(more)
	}
}

// countedSize is what a member that takes so much in memory counts in a Room.
func countedSize(size int) int64 {
	if size <= usualMember {
		return 0
	}
	return int64(size)
}

// recount brings what a member counts in the room up to date.
func (r *roster) recount(m *member) {
	size := countedSize(sizeOf(m.protocols) + len(m.assignment))
	r.room.take(size - m.counted)
	m.counted = size
}

// vacate gives back what a member has in the room.
func (r *roster) vacate(m *member) {
	r.room.take(-m.counted)
	m.counted = 0
}
