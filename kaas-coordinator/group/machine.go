package group

import (
	"slices"
	"time"
)

// Machine is the protocol of one group. Its methods are the events; what each asks to be done is in the Effects.
type Machine struct {
	config       Config
	state        State
	generation   int32
	protocolType string // of the first member; stays when the group becomes empty
	protocol     string // chosen for this generation; empty in an empty group
	leader       string // member id; empty without members
	members      roster

	pending     map[string]struct{} // ids handed out by ErrMemberIDRequired that did not join yet
	pendingSync map[string]struct{} // members of this generation that did not sync yet
	initial     initialDelay
	topics      subscription

	out Effects
}

// initialDelay is the first rebalance of an empty group, which waits for more members to come.
type initialDelay struct {
	active    bool
	newMember bool          // one came since the timer was set
	remaining time.Duration // by which the delay may still grow
}

// NewMachine returns an empty group of generation 0.
func NewMachine(c Config) *Machine {
	return &Machine{
		config:      c,
		members:     newRoster(c.Room),
		pending:     map[string]struct{}{},
		pendingSync: map[string]struct{}{},
	}
}

// State returns the group's state.
func (m *Machine) State() State { return m.state }

// Generation returns the group's generation, 0 before the first.
func (m *Machine) Generation() int32 { return m.generation }

// ProtocolType returns what the members are, such as "consumer"; empty for a group that never had members.
func (m *Machine) ProtocolType() string { return m.protocolType }

// HasPending reports whether an id was handed out to a member that did not join yet.
func (m *Machine) HasPending() bool { return len(m.pending) > 0 }

// Kill ends the group: every parked request is answered with err, every timer stopped.
func (m *Machine) Kill(err error) Effects {
	for _, member := range slices.Clone(m.members.order) {
		m.unparkJoin(member, JoinResult{Err: err, MemberID: member.id, Generation: -1})
		m.unparkSync(member, SyncResult{Err: err})
		m.stopTimer(SessionTimer, member.id)
		m.members.vacate(member)
	}
	for id := range m.pending {
		m.stopTimer(PendingTimer, id)
	}
	m.stopTimer(JoinTimer, "")
	m.stopTimer(SyncTimer, "")
	m.state = Dead
	return m.take()
}

// validate returns the error for a request of somebody who is not a member, or who is a static member that was replaced.
func (m *Machine) validate(memberID string, instanceID *string) error {
	if instanceID != nil {
		current := m.members.static[*instanceID]
		switch {
		case current == nil:
			return ErrUnknownMember
		case current.id != memberID:
			return ErrFencedInstance
		}
	}
	if m.members.byID[memberID] == nil {
		return ErrUnknownMember
	}
	return nil
}

func (m *Machine) validateGeneration(i Identity) error {
	if m.state == Dead {
		return ErrNotAvailable
	}
	if err := m.validate(i.MemberID, i.InstanceID); err != nil {
		return err
	}
	if i.Generation != m.generation {
		return ErrIllegalGeneration
	}
	return nil
}

// add makes somebody a member.
func (m *Machine) add(member *member, request RequestID, r JoinRequest) {
	if len(m.members.order) == 0 {
		m.protocolType = r.ProtocolType
	}
	if m.leader == "" {
		m.leader = member.id
	}
	m.members.add(member)
	m.dropPending(member.id)
	m.parkJoin(member, request)
}

// drop ends a membership. Whoever waits is told to begin anew.
func (m *Machine) drop(member *member) {
	m.unparkJoin(member, JoinResult{Err: ErrUnknownMember, Generation: -1})
	m.unparkSync(member, SyncResult{Err: ErrUnknownMember})
	m.stopTimer(SessionTimer, member.id)
	m.members.remove(member)
	m.synced(member.id)
	if m.leader == member.id {
		m.leader = ""
		if len(m.members.order) > 0 {
			m.leader = m.members.order[0].id
		}
	}
}

func (m *Machine) dropPending(id string) {
	if _, known := m.pending[id]; known {
		delete(m.pending, id)
		m.stopTimer(PendingTimer, id)
	}
}

// parkJoin leaves a join unanswered. One that is parked already comes from a connection that is gone.
func (m *Machine) parkJoin(member *member, request RequestID) {
	m.unparkJoin(member, JoinResult{Err: ErrRebalancing, MemberID: member.id, Generation: -1})
	member.join = request
	m.members.awaiting++
}

func (m *Machine) unparkJoin(member *member, result JoinResult) {
	if member.join == 0 {
		return
	}
	m.answerJoin(member.join, result)
	member.join = 0
	m.members.awaiting--
}

func (m *Machine) parkSync(member *member, request RequestID) {
	m.unparkSync(member, SyncResult{Err: ErrRebalancing})
	member.sync = request
}

// unparkSync reports whether there was one.
func (m *Machine) unparkSync(member *member, result SyncResult) bool {
	if member.sync == 0 {
		return false
	}
	m.answerSync(member.sync, result)
	member.sync = 0
	return true
}

// beat lets a member's session begin anew.
func (m *Machine) beat(member *member) {
	m.startTimer(SessionTimer, member.id, member.session)
}
