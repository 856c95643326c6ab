package group

// Heartbeat is a Heartbeat request (GroupCoordinator.handleHeartbeat).
func (m *Machine) Heartbeat(i Identity) (Effects, error) {
	if err := m.validateGeneration(i); err != nil {
		return m.take(), err
	}
	m.beat(m.members.byID[i.MemberID])
	if m.state == PreparingRebalance {
		return m.take(), ErrRebalancing
	}
	return m.take(), nil
}

// CheckCommit says whether offsets may be committed by whoever names itself so (GroupCoordinator.validateOffsetCommit). While members join, a commit of
// the current generation is taken: it ends what the member did before. A group without members takes commits of nobody in
// particular (generation below 0), of transactions also one with members.
func (m *Machine) CheckCommit(i Identity, transactional bool) (Effects, error) {
	err := m.checkCommit(i, transactional)
	if err == nil && !transactional {
		if member := m.members.byID[i.MemberID]; member != nil {
			m.beat(member)
		}
	}
	return m.take(), err
}

func (m *Machine) checkCommit(i Identity, transactional bool) error {
	anonymous := i.Generation < 0 && i.MemberID == "" && i.InstanceID == nil
	switch {
	case m.state == Dead:
		return ErrNotAvailable
	case i.Generation < 0 && m.state == Empty:
		return nil
	case anonymous && transactional:
		return nil
	case anonymous:
		return ErrUnknownMember
	}
	if err := m.validateGeneration(i); err != nil {
		return err
	}
	if m.state == CompletingRebalance && !transactional {
		return ErrRebalancing
	}
	return nil
}
