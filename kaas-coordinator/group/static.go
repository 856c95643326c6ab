package group

// replaceStatic lets a static member that was restarted take the place of its former self, with another member id. The old one is fenced. While the
// group is stable and its protocol stays, nobody else notices (KIP-345).
func (m *Machine) replaceStatic(request RequestID, r JoinRequest, member *member) {
	old, leader := member.id, m.leader
	m.unparkJoin(member, JoinResult{Err: ErrFencedInstance, MemberID: old, Generation: -1})
	m.unparkSync(member, SyncResult{Err: ErrFencedInstance})
	m.stopTimer(SessionTimer, old)
	m.members.rename(member, r.NewMemberID)
	m.members.update(member, r)
	if leader == old {
		m.leader = member.id
	}
	if _, waits := m.pendingSync[old]; waits {
		delete(m.pendingSync, old)
		m.pendingSync[member.id] = struct{}{}
	}
	m.parkJoin(member, request)
	m.beat(member)
	switch {
	case m.state == Stable && m.selectProtocol() == m.protocol:
		m.topics = m.subscribed()
		m.out.Store = true
		m.unparkJoin(member, m.rejoined(member, leader, r.CanSkipAssignment))
	case m.state == Stable, m.state == CompletingRebalance:
		// The leader may have the old id in hand, and would assign nothing to the new one.
		m.rebalance("static member " + *member.instanceID + " joined as " + member.id + ": " + r.Reason)
	default:
	}
}

// rejoined is the answer to a static member that rejoins a stable group. A leader that cannot be told to skip the assignment is told the old leader's
// id instead, so that it does not take itself for the leader: its assignment would reach nobody.
func (m *Machine) rejoined(member *member, oldLeader string, canSkip bool) JoinResult {
	result := m.joined(member)
	if canSkip {
		result.SkipAssignment = m.leader == member.id
		return result
	}
	result.Leader = oldLeader
	result.Members = nil
	return result
}
