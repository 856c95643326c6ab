package group

// Description is a group as DescribeGroups shows it.
type Description struct {
	State        State
	ProtocolType string
	Protocol     string // only while Stable
	Members      []MemberDescription
}

// MemberDescription is one member of a Description. Metadata and assignment are there only while the group is Stable.
type MemberDescription struct {
	MemberID   string
	InstanceID *string
	ClientID   string
	ClientHost string
	Metadata   []byte
	Assignment []byte
}

// Describe returns the group as it is.
func (m *Machine) Describe() Description {
	d := Description{State: m.state, ProtocolType: m.protocolType}
	if m.state == Stable {
		d.Protocol = m.protocol
	}
	for _, member := range m.members.order {
		described := MemberDescription{
			MemberID: member.id, InstanceID: member.instanceID, ClientID: member.clientID, ClientHost: member.clientHost,
		}
		if m.state == Stable {
			described.Metadata, described.Assignment = member.metadata(m.protocol), member.assignment
		}
		d.Members = append(d.Members, described)
	}
	return d
}
