package group

import (
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"github.com/kaas-rs/kaas/kaas-coordinator/slot"
)

// Host is the slot that a live group lives in. All of its methods but Lock are called under its lock, and must not block.
type Host interface {
	sync.Locker
	// Store appends the group's snapshot to the slot.
	Store(id string, s Snapshot) error
	// Barrier stands for everything appended so far.
	Barrier() slot.Pending
}

// LiveOptions describe a live group.
type LiveOptions struct {
	ID     string
	Config Config
	Host   Host
	Logger zerolog.Logger
	// Work counts the timers that may still call the group. Whoever closes the group waits for it, without the lock.
	Work *sync.WaitGroup
}

// Live is one group at work. Its methods are called under the host's lock and never block; its timers take the lock by themselves.
type Live struct {
	options LiveOptions
	log     zerolog.Logger
	machine *Machine
	since   time.Time // when the group came into its state
	timers  map[Timer]*deadline
	joins   map[RequestID]*Parked[JoinResult]
	syncs   map[RequestID]*Parked[SyncResult]
	next    RequestID
	closed  bool
}

// NewLive returns an empty group that is not stored yet.
func NewLive(o LiveOptions) *Live {
	l := newLive(o)
	l.machine = NewMachine(o.Config)
	l.since = time.Now()
	return l
}

// RestoreLive returns the group of a snapshot. The sessions of its members begin anew.
func RestoreLive(o LiveOptions, s Snapshot) *Live {
	l := newLive(o)
	l.since = time.UnixMilli(s.Since)
	machine, effects := Restore(o.Config, s)
	l.machine = machine
	l.apply(machine.State(), effects)
	return l
}

func newLive(o LiveOptions) *Live {
	return &Live{
		options: o,
		log:     o.Logger.With().Str("group", o.ID).Logger(),
		timers:  make(map[Timer]*deadline),
		joins:   make(map[RequestID]*Parked[JoinResult]),
		syncs:   make(map[RequestID]*Parked[SyncResult]),
	}
}

// Join is a JoinGroup request.
func (l *Live) Join(r JoinRequest) *Parked[JoinResult] {
	r.NewMemberID = newMemberID(r)
	r.Reason = shorten(r.Reason)
	parked := newParked[JoinResult]()
	l.next++
	l.joins[l.next] = parked
	before := l.machine.State()
	l.apply(before, l.machine.Join(l.next, r))
	return parked
}

// Sync is a SyncGroup request.
func (l *Live) Sync(r SyncRequest) *Parked[SyncResult] {
	parked := newParked[SyncResult]()
	l.next++
	l.syncs[l.next] = parked
	before := l.machine.State()
	l.apply(before, l.machine.Sync(l.next, r))
	return parked
}

// Heartbeat is a Heartbeat request.
func (l *Live) Heartbeat(i Identity) error {
	effects, err := l.machine.Heartbeat(i)
	l.apply(l.machine.State(), effects)
	return err
}

// CheckCommit says whether offsets may be committed, see Machine.CheckCommit.
func (l *Live) CheckCommit(i Identity, transactional bool) error {
	effects, err := l.machine.CheckCommit(i, transactional)
	l.apply(l.machine.State(), effects)
	return err
}

// Leave is a LeaveGroup request, with one error for each member.
func (l *Live) Leave(requests []LeaveRequest) []error {
	for i := range requests {
		requests[i].Reason = shorten(requests[i].Reason)
	}
	before := l.machine.State()
	results, effects := l.machine.Leave(requests)
	l.apply(before, effects)
	return results
}

// Close ends the group here, without storing anything: every parked request is answered with err.
func (l *Live) Close(err error) {
	l.closed = true
	l.apply(Dead, l.machine.Kill(err))
}

// Machine gives access to what can be asked without an event.
func (l *Live) Machine() *Machine { return l.machine }

// Since is when the group came into its state.
func (l *Live) Since() time.Time { return l.since }

// apply does what an event asked for.
func (l *Live) apply(before State, e Effects) {
	if after := l.machine.State(); after != before {
		l.since = time.Now()
		l.log.Info().Stringer("state", after).Int32("generation", l.machine.Generation()).Str("reason", e.Rebalance).Msg("group changed")
	}
	if e.Store {
		if err := l.options.Host.Store(l.options.ID, l.machine.Snapshot(l.since)); err != nil {
			l.log.Error().Err(err).Msg("group could not be stored")
			l.retract(&e)
		}
	}
	for _, change := range e.Timers {
		l.change(change)
	}
	l.answer(e)
}

// retract turns answers that rested on what could not be stored into errors.
func (l *Live) retract(e *Effects) {
	for i := range e.Joins {
		if r := &e.Joins[i].Result; r.Err == nil {
			*r = JoinResult{Err: ErrNotAvailable, Generation: -1}
		}
	}
	for i := range e.Syncs {
		if r := &e.Syncs[i].Result; r.Err == nil {
			*r = SyncResult{Err: ErrNotAvailable}
		}
	}
	failed := l.machine.StoreFailed()
	e.Timers = append(e.Timers, failed.Timers...)
	e.Joins = append(e.Joins, failed.Joins...)
	e.Syncs = append(e.Syncs, failed.Syncs...)
}

// answer gives the results to those who wait, with what they must be durable with.
func (l *Live) answer(e Effects) {
	if len(e.Joins)+len(e.Syncs) == 0 {
		return
	}
	barrier, now := l.options.Host.Barrier(), time.Now()
	for _, a := range e.Joins {
		l.joins[a.Request].give(Answer[JoinResult]{a.Result, barrier, now})
		delete(l.joins, a.Request)
	}
	for _, a := range e.Syncs {
		l.syncs[a.Request].give(Answer[SyncResult]{a.Result, barrier, now})
		delete(l.syncs, a.Request)
	}
}

// newMemberID is an id as Kafka makes them: what the member calls itself, and a UUID.
func newMemberID(r JoinRequest) string {
	name := r.ClientID
	if r.InstanceID != nil {
		name = *r.InstanceID
	}
	return name + "-" + uuid.NewString()
}

// maxReason bounds, in bytes, what clients can put into logs.
const maxReason = 255

func shorten(reason string) string {
	if len(reason) > maxReason {
		return reason[:maxReason]
	}
	return reason
}
