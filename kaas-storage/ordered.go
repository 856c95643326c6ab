package storage

import "sync/atomic"

// ordered is a number that readers without a lock take beside another one, so that what they see hangs on which of the two they take, and their writer sets,
// first. step is called before and after each access, by tests that let everything else happen there; it is nil otherwise.
type ordered struct {
	value atomic.Int64
	step  func()
}

// Load returns the number.
func (o *ordered) Load() int64 {
	if o.step == nil {
		return o.value.Load()
	}
	return o.loadInSteps()
}

func (o *ordered) loadInSteps() int64 {
	o.step()
	defer o.step()
	return o.value.Load()
}

// Store sets the number.
func (o *ordered) Store(value int64) {
	if o.step == nil {
		o.value.Store(value)
		return
	}
	o.step()
	defer o.step()
	o.value.Store(value)
}
