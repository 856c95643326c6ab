package group

import (
	"slices"
	"time"
)

// maybeRebalance begins a rebalance unless one has begun.
func (m *Machine) maybeRebalance(reason string) {
	switch m.state {
	case Empty, Stable, CompletingRebalance:
		m.rebalance(reason)
	default:
	}
}

// rebalance lets everybody join again (GroupCoordinator.prepareRebalance).
func (m *Machine) rebalance(reason string) {
	if m.state == CompletingRebalance {
		for _, member := range m.members.order {
			m.members.assign(member, nil)
			if m.unparkSync(member, SyncResult{Err: ErrRebalancing}) {
				m.beat(member)
			}
		}
	}
	m.forgetSyncs()
	timeout := m.members.rebalanceTimeout()
	m.initial = initialDelay{}
	if m.state == Empty {
		delay := m.config.InitialRebalanceDelay
		m.initial = initialDelay{active: true, remaining: max(timeout-delay, 0)}
		timeout = delay
	}
	m.state = PreparingRebalance
	m.out.Rebalance = reason
	m.startTimer(JoinTimer, "", timeout)
	m.tryCompleteJoin()
}

// tryCompleteJoin ends the joining when there is nobody to wait for. The initial delay is always waited for.
func (m *Machine) tryCompleteJoin() {
	if m.state == PreparingRebalance && !m.initial.active &&
		m.members.awaiting == len(m.members.order) && len(m.pending) == 0 {
		m.completeJoin()
	}
}

// joinTimeout is the end of the time for joining. The initial delay grows while members come.
func (m *Machine) joinTimeout() {
	if m.state != PreparingRebalance {
		return
	}
	if m.initial.active && m.initial.newMember && m.initial.remaining > 0 {
		delay := min(m.config.InitialRebalanceDelay, m.initial.remaining)
		m.initial.newMember = false
		m.initial.remaining -= delay
		m.startTimer(JoinTimer, "", delay)
		return
	}
	m.completeJoin()
}

// completeJoin begins the next generation with those who have joined (GroupCoordinator.onCompleteJoin). Static members stay, whether they joined or not:
// only their session ends them.
func (m *Machine) completeJoin() {
	m.initial = initialDelay{}
	for _, member := range slices.Clone(m.members.order) {
		if member.join == 0 && member.instanceID == nil {
			m.drop(member)
		}
	}
	if len(m.members.order) > 0 && !m.electLeader() {
		// Nobody joined. Static members are waited for until their sessions end; a client may have named no time to wait.
		m.startTimer(JoinTimer, "", max(m.members.rebalanceTimeout(), time.Second))
		return
	}
	m.stopTimer(JoinTimer, "")
	m.generation++
	m.forgetSyncs()
	if len(m.members.order) == 0 {
		m.state, m.protocol = Empty, ""
		m.topics = m.subscribed()
		m.out.Store = true
		return
	}
	m.protocol = m.selectProtocol()
	m.topics = m.subscribed()
	m.state = CompletingRebalance
	m.welcome()
}

// electLeader keeps the leader if it has joined, else takes the first member that has. False: nobody has.
func (m *Machine) electLeader() bool {
	if leader := m.members.byID[m.leader]; leader != nil && leader.join != 0 {
		return true
	}
	for _, member := range m.members.order {
		if member.join != 0 {
			m.leader = member.id
			return true
		}
	}
	return false
}

// welcome tells the members of a new generation.
func (m *Machine) welcome() {
	for _, member := range m.members.order {
		m.unparkJoin(member, m.joined(member))
		member.isNew = false
		m.beat(member)
		m.pendingSync[member.id] = struct{}{}
	}
	m.startTimer(SyncTimer, "", m.members.rebalanceTimeout())
}

// synced notes that a member needs no more waiting for.
func (m *Machine) synced(id string) {
	if _, waited := m.pendingSync[id]; !waited {
		return
	}
	delete(m.pendingSync, id)
	if len(m.pendingSync) == 0 {
		m.stopTimer(SyncTimer, "")
	}
}

func (m *Machine) forgetSyncs() {
	if len(m.pendingSync) > 0 {
		clear(m.pendingSync)
		m.stopTimer(SyncTimer, "")
	}
}

// syncTimeout removes the members that have not synced.
func (m *Machine) syncTimeout() {
	if (m.state != CompletingRebalance && m.state != Stable) || len(m.pendingSync) == 0 {
		return
	}
	for _, member := range slices.Clone(m.members.order) {
		if _, late := m.pendingSync[member.id]; late {
			m.drop(member)
		}
	}
	m.rebalance("members did not sync in time")
}

// StoreFailed is the event that what the last Effects asked to be stored could not be, while the group may go on: the assignment is worth nothing.
func (m *Machine) StoreFailed() Effects {
	if m.state == Stable {
		m.rebalance("the group could not be stored")
	}
	return m.take()
}
