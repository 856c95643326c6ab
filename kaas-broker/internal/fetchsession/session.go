package fetchsession

import "time"

// Key names a partition the way the request does: by the topic's name (below Fetch v13) or by its id.
type Key struct {
	Topic     string
	TopicID   [16]byte
	Partition int32
}

// SameTopic reports whether two partitions are of one topic, as far as their names tell.
func (k *Key) SameTopic(other *Key) bool { return k.Topic == other.Topic && k.TopicID == other.TopicID }

// Wanted is what a client wants of one partition.
type Wanted struct {
	Key
	Offset int64
	// MaxBytes bounds the records of this partition.
	MaxBytes int32
	// LeaderEpoch is the epoch that the client believes to be current, LastEpoch that of the last record it has; -1 is none.
	LeaderEpoch, LastEpoch int32
}

// Request is the part of a Fetch request that concerns its session.
type Request struct {
	ID, Epoch int32
	// ByID says that topics are named by their ids.
	ByID bool
	// Wanted are the partitions of the request; in a session those that are new or changed. Each key appears once.
	Wanted []Wanted
	// Forgotten are partitions that the session shall no longer have.
	Forgotten []Key
}

// Result is what came of reading one partition.
type Result struct {
	// Records says that there are records, Notable that there is anything else that must be told each time: an error or a diverging epoch.
	Records, Notable bool
	HighWatermark    int64
	LogStart         int64
	// Skip is set by End: the client knows all this.
	Skip bool
}

// session is guarded by its cache's mutex.
type session struct {
	id    int32
	epoch int32
	byID  bool
	bytes int64    // about what it takes in memory
	order []*entry // in the order in which to read
	index map[Key]*entry

	created, used time.Time
	older, newer  *session
}

// entry is one partition of a session with what the client was told of it last.
type entry struct {
	Wanted
	highWatermark int64
	logStart      int64
	forgotten     bool
	moved         bool // had records in the answer that is being made
}

// untold is a high watermark that no answer equals.
const untold int64 = -1

func newSession(r Request, results []Result) *session {
	s := &session{epoch: nextEpoch(initialEpoch), byID: r.ByID, created: time.Now(), index: make(map[Key]*entry, len(r.Wanted))}
	s.update(Request{Wanted: r.Wanted})
	for i := range results {
		s.index[r.Wanted[i].Key].told(&results[i])
	}
	return s
}

// entryBytes is about what one partition takes in memory, in its entry and in the index, without the name of its topic.
const entryBytes = 256

// size counts the name for each partition: that of an unknown topic can be as long as its client likes.
func (k Key) size() int64 { return entryBytes + int64(len(k.Topic)) }

// growth is how many bytes the partitions add that are not there yet.
func (s *session) growth(wanted []Wanted) int64 {
	total := int64(0)
	for i := range wanted {
		if s.index[wanted[i].Key] == nil {
			total += wanted[i].size()
		}
	}
	return total
}

// update takes over the changes of a request. Forgetting comes last, as in Kafka.
func (s *session) update(r Request) {
	for _, w := range r.Wanted {
		if e := s.index[w.Key]; e != nil {
			e.Wanted = w
			continue
		}
		e := &entry{Wanted: w, highWatermark: untold, logStart: untold}
		s.index[w.Key] = e
		s.order = append(s.order, e)
		s.bytes += w.size()
	}
	if len(r.Forgotten) == 0 {
		return
	}
	for _, key := range r.Forgotten {
		if e := s.index[key]; e != nil {
			e.forgotten = true
			s.bytes -= key.size()
			delete(s.index, key)
		}
	}
	kept := s.order[:0]
	for _, e := range s.order {
		if !e.forgotten {
			kept = append(kept, e)
		}
	}
	clear(s.order[len(kept):])
	s.order = kept
}

// wanted copies what to read.
func (s *session) wanted() []Wanted {
	wanted := make([]Wanted, len(s.order))
	for i, e := range s.order {
		wanted[i] = e.Wanted
	}
	return wanted
}

// told notes an answer and reports whether it differs from what the client knows.
func (e *entry) told(r *Result) (news bool) {
	news = r.Records || r.Notable || r.HighWatermark != e.highWatermark || r.LogStart != e.logStart
	e.highWatermark, e.logStart = r.HighWatermark, r.LogStart
	if r.Notable {
		e.highWatermark = untold // whatever follows is news
	}
	return news
}

// rotate moves the partitions that had records behind the others, so that all get their turn within the response's limit.
func (s *session) rotate() {
	rest := make([]*entry, 0, len(s.order))
	for _, e := range s.order {
		if !e.moved {
			rest = append(rest, e)
		}
	}
	for _, e := range s.order {
		if e.moved {
			e.moved = false
			rest = append(rest, e)
		}
	}
	s.order = rest
}
