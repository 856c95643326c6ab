package fetchsession

import (
	"errors"
	"math"
	"math/rand/v2"
	"sync"
	"time"
)

// Why a request does not fit its session. The answer has session id 0 and no topics.
var (
	// ErrNotFound: there is no session of that id (FETCH_SESSION_ID_NOT_FOUND).
	ErrNotFound = errors.New("unknown fetch session")
	// ErrEpoch: the request is not the one that follows; the session lives on (INVALID_FETCH_SESSION_EPOCH).
	ErrEpoch = errors.New("wrong fetch session epoch")
	// ErrTopicIDs: the session was begun with topic names and continued with ids, or the reverse (FETCH_SESSION_TOPIC_ID_ERROR).
	ErrTopicIDs = errors.New("fetch session mixes topic names and topic ids")
)

const (
	// NoSession is the id of a request or answer without a session.
	NoSession int32 = 0
	// initialEpoch begins a session, finalEpoch ends one or does without.
	initialEpoch int32 = 0
	finalEpoch   int32 = -1

	// protectedFor is how long a session is safe from eviction after its last use, and a small one after its creation (Kafka's
	// MIN_INCREMENTAL_FETCH_SESSION_EVICTION_MS).
	protectedFor = 2 * time.Minute
	// maxBytes bounds what all sessions hold together, about a million partitions.
	maxBytes = 256 << 20
)

// Cache holds the sessions of one broker.
type Cache struct {
	slots int

	mutex    sync.Mutex
	sessions map[int32]*session
	held     int64 // bytes of all sessions
	oldest   *session
	newest   *session // ends of the list in order of last use
}

// New returns a cache of so many sessions; with 0 no session is ever made.
func New(slots int) *Cache {
	return &Cache{slots: slots, sessions: make(map[int32]*session)}
}

// Len is the number of sessions.
func (c *Cache) Len() int {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return len(c.sessions)
}

// Begin finds what a request asks for. The error is ErrNotFound, ErrEpoch or ErrTopicIDs.
func (c *Cache) Begin(r Request) (*Fetch, error) {
	if r.Epoch == initialEpoch || r.Epoch == finalEpoch {
		c.remove(r.ID)
		return &Fetch{cache: c, request: r, wanted: r.Wanted, full: r.Epoch == initialEpoch}, nil
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	s := c.sessions[r.ID]
	switch {
	case s == nil:
		return nil, ErrNotFound
	case s.epoch != r.Epoch:
		return nil, ErrEpoch
	case s.byID != r.ByID:
		return nil, ErrTopicIDs
	}
	if c.held+s.growth(r.Wanted) > maxBytes {
		// A client that gets to hear this begins anew, and is told when there is no room for its session.
		c.removeLocked(s)
		return nil, ErrNotFound
	}
	before := s.bytes
	s.update(r)
	c.held += s.bytes - before
	if len(s.order) == 0 {
		c.removeLocked(s)
		return &Fetch{cache: c, request: r}, nil
	}
	s.epoch = nextEpoch(s.epoch)
	c.touchLocked(s)
	return &Fetch{cache: c, request: r, wanted: s.wanted(), session: s}, nil
}

// create makes a session out of a full fetch, or returns NoSession when there is no room for it.
func (c *Cache) create(r Request, results []Result) int32 {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	s := newSession(r, results)
	if !c.makeRoomLocked(s) {
		return NoSession
	}
	for s.id == NoSession || c.sessions[s.id] != nil {
		s.id = rand.Int32N(math.MaxInt32)
	}
	c.sessions[s.id] = s
	c.held += s.bytes
	c.touchLocked(s)
	return s.id
}

// makeRoomLocked evicts the session used longest ago if that is long enough, as Kafka does, so that a client that opens one session after
// another does not push out those of others.
func (c *Cache) makeRoomLocked(fresh *session) bool {
	for len(c.sessions) >= c.slots || c.held+fresh.bytes > maxBytes {
		victim := c.oldest
		if victim == nil || time.Since(victim.used) < protectedFor {
			victim = c.smallerLocked(len(fresh.order))
		}
		if victim == nil {
			return false
		}
		c.removeLocked(victim)
	}
	return true
}

// smallerLocked finds a session past its protection that saves less than one of so many partitions would.
func (c *Cache) smallerLocked(partitions int) *session {
	for s := c.oldest; s != nil; s = s.newer {
		if len(s.order) < partitions && time.Since(s.created) >= protectedFor {
			return s
		}
	}
	return nil
}

func (c *Cache) remove(id int32) {
	if id == NoSession {
		return
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if s := c.sessions[id]; s != nil {
		c.removeLocked(s)
	}
}

func (c *Cache) removeLocked(s *session) {
	delete(c.sessions, s.id)
	c.held -= s.bytes
	c.unlinkLocked(s)
}

// touchLocked makes s the one used last.
func (c *Cache) touchLocked(s *session) {
	c.unlinkLocked(s)
	s.used = time.Now()
	s.older = c.newest
	if c.newest != nil {
		c.newest.newer = s
	} else {
		c.oldest = s
	}
	c.newest = s
}

func (c *Cache) unlinkLocked(s *session) {
	if s.older != nil {
		s.older.newer = s.newer
	} else if c.oldest == s {
		c.oldest = s.newer
	}
	if s.newer != nil {
		s.newer.older = s.older
	} else if c.newest == s {
		c.newest = s.older
	}
	s.older, s.newer = nil, nil
}

func nextEpoch(epoch int32) int32 {
	if epoch == math.MaxInt32 {
		return 1
	}
	return epoch + 1
}
