package group

import "time"

// RequestID names a join or sync that waits for its answer. Zero names none.
type RequestID uint64

// Effects are what an event asks to be done, in this order: store, timers, answers.
type Effects struct {
	// Store asks for the snapshot of the machine to be stored before anything is answered.
	Store  bool
	Timers []TimerChange
	Joins  []JoinAnswer
	Syncs  []SyncAnswer
	// Rebalance says why a rebalance began; empty if none did.
	Rebalance string
}

// JoinAnswer ends a parked join.
type JoinAnswer struct {
	Request RequestID
	Result  JoinResult
}

// SyncAnswer ends a parked sync.
type SyncAnswer struct {
	Request RequestID
	Result  SyncResult
}

// TimerKind says what a timer is for; Machine.Expired is called when it ends.
type TimerKind uint8

// The timers of a group.
const (
	SessionTimer TimerKind = iota // of a member: no heartbeat
	PendingTimer                  // of a member id that was handed out: it did not join
	JoinTimer                     // of the group: members have had time enough to join
	SyncTimer                     // of the group: members have had time enough to sync
)

var timerNames = [...]string{"session", "pending", "join", "sync"}

// String returns the kind's name.
func (k TimerKind) String() string {
	if int(k) >= len(timerNames) {
		return "unknown"
	}
	return timerNames[k]
}

// Timer names a timer. A group has at most one of each name.
type Timer struct {
	Kind   TimerKind
	Member string // of SessionTimer and PendingTimer
}

// TimerChange sets a timer, also one that is running, or stops it.
type TimerChange struct {
	Timer Timer
	After time.Duration
	Stop  bool
}

func (m *Machine) startTimer(kind TimerKind, member string, after time.Duration) {
	m.out.Timers = append(m.out.Timers, TimerChange{Timer: Timer{kind, member}, After: after})
}

func (m *Machine) stopTimer(kind TimerKind, member string) {
	m.out.Timers = append(m.out.Timers, TimerChange{Timer: Timer{kind, member}, Stop: true})
}

// take returns what has gathered since the last event.
func (m *Machine) take() Effects {
	out := m.out
	m.out = Effects{}
	return out
}

func (m *Machine) answerJoin(request RequestID, result JoinResult) {
	if request != 0 {
		m.out.Joins = append(m.out.Joins, JoinAnswer{request, result})
	}
}

func (m *Machine) answerSync(request RequestID, result SyncResult) {
	if request != 0 {
		m.out.Syncs = append(m.out.Syncs, SyncAnswer{request, result})
	}
}

func (m *Machine) refuseJoin(request RequestID, memberID string, err error) {
	m.answerJoin(request, JoinResult{Err: err, MemberID: memberID, Generation: -1})
}
