package group

import "bytes"

// Sync is a SyncGroup request (GroupCoordinator.handleSyncGroup). It is answered at once, or when the leader has assigned.
func (m *Machine) Sync(request RequestID, r SyncRequest) Effects {
	m.sync(request, r)
	return m.take()
}

func (m *Machine) sync(request RequestID, r SyncRequest) {
	if err := m.validateSync(r); err != nil {
		m.answerSync(request, SyncResult{Err: err})
		return
	}
	member := m.members.byID[r.MemberID]
	switch m.state {
	case PreparingRebalance:
		m.answerSync(request, SyncResult{Err: ErrRebalancing})
	case CompletingRebalance:
		if m.leader == member.id && !m.hasRoomToAssign(r.Assignments) {
			m.answerSync(request, SyncResult{Err: ErrNotAvailable})
			return
		}
		m.parkSync(member, request)
		m.synced(member.id)
		if m.leader == member.id {
			m.assign(r.Assignments)
		}
	case Stable:
		m.synced(member.id)
		m.answerSync(request, m.assigned(member))
		m.beat(member)
	default:
		m.answerSync(request, SyncResult{Err: ErrUnknownMember})
	}
}

// CheckProtocol returns ErrInconsistentProtocol when type and name are missing although they are required. Kafka asks this before anything else.
func (r SyncRequest) CheckProtocol() error {
	if r.RequireProtocol && (r.ProtocolType == nil || r.Protocol == nil) {
		return ErrInconsistentProtocol
	}
	return nil
}

func (m *Machine) validateSync(r SyncRequest) error {
	if err := r.CheckProtocol(); err != nil {
		return err
	}
	if err := m.validateGeneration(r.Identity); err != nil {
		return err
	}
	if (r.ProtocolType != nil && *r.ProtocolType != m.protocolType) || (r.Protocol != nil && *r.Protocol != m.protocol) {
		return ErrInconsistentProtocol
	}
	return nil
}

// hasRoomToAssign reports whether what the leader says fits beside what the members of all groups have.
func (m *Machine) hasRoomToAssign(assignments []Assignment) bool {
	more := int64(0)
	for _, a := range assignments {
		if member := m.members.byID[a.MemberID]; member != nil {
			more += countedSize(sizeOf(member.protocols)+len(a.Data)) - member.counted
		}
	}
	return m.config.Room.has(more)
}

// assign gives everybody what the leader says. Members whom it left out get nothing, and members whom it invented are ignored.
func (m *Machine) assign(assignments []Assignment) {
	given := make(map[string][]byte, len(assignments))
	for _, a := range assignments {
		given[a.MemberID] = a.Data
	}
	m.state = Stable
	m.out.Store = true
	for _, member := range m.members.order {
		m.members.assign(member, bytes.Clone(given[member.id]))
		if m.unparkSync(member, m.assigned(member)) {
			m.beat(member)
		}
	}
}

func (m *Machine) assigned(member *member) SyncResult {
	assignment := member.assignment
	if assignment == nil {
		assignment = []byte{}
	}
	return SyncResult{ProtocolType: m.protocolType, Protocol: m.protocol, Assignment: assignment}
}
