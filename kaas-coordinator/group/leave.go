package group

// Leave is a LeaveGroup request for one or several members (GroupCoordinator.handleLeaveGroup). The errors are those of the members, nil for one that has
// left.
func (m *Machine) Leave(requests []LeaveRequest) ([]error, Effects) {
	results := make([]error, len(requests))
	for i, r := range requests {
		results[i] = m.leave(r)
	}
	return results, m.take()
}

func (m *Machine) leave(r LeaveRequest) error {
	if m.state == Dead {
		return ErrNotAvailable
	}
	if _, pending := m.pending[r.MemberID]; pending {
		m.dropPending(r.MemberID)
		m.tryCompleteJoin()
		return nil
	}
	if r.MemberID == "" {
		if r.InstanceID == nil || m.members.static[*r.InstanceID] == nil {
			return ErrUnknownMember
		}
		m.depart(m.members.static[*r.InstanceID], "left: "+r.Reason)
		return nil
	}
	if err := m.validate(r.MemberID, r.InstanceID); err != nil {
		return err
	}
	m.depart(m.members.byID[r.MemberID], "left: "+r.Reason)
	return nil
}

// depart removes a member and lets the others share what it had.
func (m *Machine) depart(member *member, why string) {
	m.drop(member)
	m.maybeRebalance("member " + member.id + " " + why)
	m.tryCompleteJoin()
}

// Expired is the end of a timer. One that was set anew or stopped in the meantime must not be reported.
func (m *Machine) Expired(t Timer) Effects {
	switch t.Kind {
	case SessionTimer:
		m.sessionTimeout(t.Member)
	case PendingTimer:
		delete(m.pending, t.Member)
		m.tryCompleteJoin()
	case JoinTimer:
		m.joinTimeout()
	case SyncTimer:
		m.syncTimeout()
	}
	return m.take()
}

// sessionTimeout removes a member that was silent, unless it waits for us. A new member cannot be heard at all and is given up when its time is over.
func (m *Machine) sessionTimeout(id string) {
	member := m.members.byID[id]
	if member == nil || m.state == Dead {
		return
	}
	if waits := member.join != 0 || member.sync != 0; waits && !member.isNew {
		return
	}
	m.depart(member, "was silent for too long")
}
