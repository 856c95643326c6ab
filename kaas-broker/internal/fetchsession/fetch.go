package fetchsession

// Fetch is one request between Begin and End.
type Fetch struct {
	cache   *Cache
	request Request
	wanted  []Wanted
	session *session // of an incremental request
	full    bool     // a session is to be made
}

// Wanted are the partitions to read, in this order. The slice is the caller's to read only.
func (f *Fetch) Wanted() []Wanted { return f.wanted }

// End takes the results, one for each of Wanted in the same order, marks those to leave out, and returns the answer's session id.
// The error is ErrEpoch when another request of the session has been begun meanwhile: the answer then has no topics. End must be
// called once, or not at all if the request is not answered.
func (f *Fetch) End(results []Result) (int32, error) {
	if f.session == nil {
		if f.full && f.cache.slots > 0 {
			return f.cache.create(f.request, results), nil
		}
		return NoSession, nil
	}
	return f.endIncremental(results)
}

func (f *Fetch) endIncremental(results []Result) (int32, error) {
	f.cache.mutex.Lock()
	defer f.cache.mutex.Unlock()
	s := f.session
	if s.epoch != nextEpoch(f.request.Epoch) {
		return NoSession, ErrEpoch
	}
	moved := false
	for i := range results {
		e := s.index[f.wanted[i].Key]
		if e == nil {
			continue
		}
		results[i].Skip = !e.told(&results[i])
		e.moved = results[i].Records
		moved = moved || e.moved
	}
	if moved {
		s.rotate()
	}
	return s.id, nil
}
