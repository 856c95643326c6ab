package group

// Join is a JoinGroup request (GroupCoordinator.handleJoinGroup). It is answered at once or when the rebalance completes.
func (m *Machine) Join(request RequestID, r JoinRequest) Effects {
	m.join(request, r)
	m.tryCompleteJoin()
	return m.take()
}

func (m *Machine) join(request RequestID, r JoinRequest) {
	if err := m.config.CheckSessionTimeout(r.SessionTimeout); err != nil {
		m.refuseJoin(request, r.MemberID, err)
		return
	}
	switch {
	case m.state == Dead:
		m.refuseJoin(request, r.MemberID, ErrNotAvailable)
	case !m.hasRoom(r.MemberID):
		if member := m.members.byID[r.MemberID]; member != nil {
			m.drop(member)
		}
		m.dropPending(r.MemberID)
		m.refuseJoin(request, "", ErrGroupMaxSize)
	case !m.hasRoomFor(r):
		m.refuseJoin(request, r.MemberID, ErrGroupMaxSize)
	case !m.hasRoomBeside(r):
		m.refuseJoin(request, r.MemberID, ErrNotAvailable)
	case !m.supports(r):
		m.refuseJoin(request, r.MemberID, ErrInconsistentProtocol)
	case r.MemberID == "":
		m.joinNew(request, r)
	default:
		m.joinKnown(request, r)
	}
}

// hasRoom reports whether somebody may join. In a rebalance those count who have joined: the group may be above a maximum that was lowered, and then
// the last to join have to go.
func (m *Machine) hasRoom(memberID string) bool {
	member := m.members.byID[memberID]
	switch m.state {
	case PreparingRebalance:
		return (member != nil && member.join != 0) || m.members.awaiting < m.config.MaxSize
	case CompletingRebalance, Stable:
		return member != nil || len(m.members.order) < m.config.MaxSize
	default:
		return true
	}
}

// maxOffers bounds what the members of a group offer together, in bytes: it is kept for as long as they are members, and written at each rebalance.
// Kafka's bound is that of the group's record: 1 MB by default.
const maxOffers = 16 << 20

// hasRoomFor reports whether what somebody offers, in place of what it offered before, fits beside what the others do.
func (m *Machine) hasRoomFor(r JoinRequest) bool {
	others := m.members.offers
	if before := m.before(r); before != nil {
		others -= sizeOf(before.protocols)
	}
	return others+sizeOf(r.Protocols) <= maxOffers
}

// hasRoomBeside reports whether what somebody offers fits beside all groups.
func (m *Machine) hasRoomBeside(r JoinRequest) bool {
	size := countedSize(sizeOf(r.Protocols))
	if before := m.before(r); before != nil {
		size -= before.counted
	}
	return m.config.Room.has(size)
}

// before is the member that a join is of; nil for a new one.
func (m *Machine) before(r JoinRequest) *member {
	if r.InstanceID != nil {
		return m.members.static[*r.InstanceID]
	}
	return m.members.byID[r.MemberID]
}

func (m *Machine) joinNew(request RequestID, r JoinRequest) {
	switch {
	case r.InstanceID != nil && m.members.static[*r.InstanceID] != nil:
		m.replaceStatic(request, r, m.members.static[*r.InstanceID])
	case r.InstanceID == nil && r.RequireMemberID:
		m.pending[r.NewMemberID] = struct{}{}
		m.startTimer(PendingTimer, r.NewMemberID, r.SessionTimeout)
		m.refuseJoin(request, r.NewMemberID, ErrMemberIDRequired)
	default:
		m.addAndRebalance(request, r.NewMemberID, r)
	}
}

func (m *Machine) joinKnown(request RequestID, r JoinRequest) {
	if _, pending := m.pending[r.MemberID]; pending && r.InstanceID == nil {
		m.addAndRebalance(request, r.MemberID, r)
		return
	}
	if err := m.validate(r.MemberID, r.InstanceID); err != nil {
		m.refuseJoin(request, r.MemberID, err)
		return
	}
	member := m.members.byID[r.MemberID]
	same := member.offers(r.Protocols)
	switch {
	case m.state == CompletingRebalance && same:
		// It may have missed the answer to its first join of this generation.
		m.answerJoin(request, m.joined(member))
	case m.state == Stable && same && m.leader != member.id:
		// A leader that joins again wants a rebalance: what it watches has changed, such as the partitions of a topic.
		result := m.joined(member)
		result.Members = nil
		m.answerJoin(request, result)
	default:
		m.members.update(member, r)
		m.parkJoin(member, request)
		m.maybeRebalance("member " + member.id + " joined again: " + r.Reason)
	}
}

func (m *Machine) addAndRebalance(request RequestID, id string, r JoinRequest) {
	member := newMember(id, r)
	member.isNew = true
	if m.state == PreparingRebalance && m.generation == 0 {
		m.initial.newMember = true
	}
	m.add(member, request, r)
	m.startTimer(SessionTimer, id, newMemberTimeout)
	m.maybeRebalance("new member " + id + ": " + r.Reason)
}

// joined is the answer to a member of the current generation.
func (m *Machine) joined(member *member) JoinResult {
	result := JoinResult{
		MemberID:     member.id,
		Generation:   m.generation,
		ProtocolType: m.protocolType,
		Protocol:     m.protocol,
		Leader:       m.leader,
	}
	if m.leader == member.id {
		result.Members = m.joinMembers()
	}
	return result
}

func (m *Machine) joinMembers() []JoinMember {
	members := make([]JoinMember, len(m.members.order))
	for i, member := range m.members.order {
		members[i] = JoinMember{MemberID: member.id, InstanceID: member.instanceID, Metadata: member.metadata(m.protocol)}
	}
	return members
}
