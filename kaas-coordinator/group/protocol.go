package group

// supports reports whether a join fits the group: the type is the group's, and one of its protocols is offered by every member. The first
// member needs a type and a protocol.
func (m *Machine) supports(r JoinRequest) bool {
	if m.state == Empty {
		return r.ProtocolType != "" && len(r.Protocols) > 0
	}
	if r.ProtocolType != m.protocolType {
		return false
	}
	for _, p := range r.Protocols {
		if m.members.support[p.Name] == len(m.members.order) {
			return true
		}
	}
	return false
}

// selectProtocol lets every member vote among the protocols that all offer. Of equal votes the first cast decides.
func (m *Machine) selectProtocol() string {
	candidates := make(map[string]bool)
	for name, offered := range m.members.support {
		if offered == len(m.members.order) {
			candidates[name] = true
		}
	}
	votes := make(map[string]int)
	chosen := ""
	for _, member := range m.members.order {
		votes[member.vote(candidates)]++
	}
	for _, member := range m.members.order {
		if vote := member.vote(candidates); votes[vote] > votes[chosen] {
			chosen = vote
		}
	}
	return chosen
}
