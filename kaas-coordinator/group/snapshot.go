package group

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/kaas-rs/kaas/kaas-coordinator/slot"
)

// Snapshot is what is stored of a group: the last generation that was complete.
type Snapshot struct {
	Version      int              `json:"version"`
	ProtocolType string           `json:"protocol_type"`
	Generation   int32            `json:"generation"`
	Protocol     string           `json:"protocol,omitempty"`
	Leader       string           `json:"leader,omitempty"`
	Since        int64            `json:"since"` // ms since 1970 when the group came into its state
	Members      []MemberSnapshot `json:"members,omitempty"`
}

// MemberSnapshot is one member of a Snapshot. The instance id is what lets a static member come back after a restart of the broker.
type MemberSnapshot struct {
	MemberID         string     `json:"member_id"`
	InstanceID       *string    `json:"instance_id,omitempty"`
	ClientID         string     `json:"client_id"`
	ClientHost       string     `json:"client_host"`
	SessionTimeout   int64      `json:"session_timeout_ms"`
	RebalanceTimeout int64      `json:"rebalance_timeout_ms"`
	Protocols        []Protocol `json:"protocols"`
	Assignment       []byte     `json:"assignment"`
}

// Snapshot returns the group to be stored; since is when it came into its state. It shares the machine's bytes, which never change.
func (m *Machine) Snapshot(since time.Time) Snapshot {
	s := Snapshot{
		Version: slot.Version, ProtocolType: m.protocolType, Generation: m.generation, Protocol: m.protocol, Leader: m.leader,
		Since: since.UnixMilli(),
	}
	for _, member := range m.members.order {
		s.Members = append(s.Members, MemberSnapshot{
			MemberID: member.id, InstanceID: member.instanceID, ClientID: member.clientID, ClientHost: member.clientHost,
			SessionTimeout: member.session.Milliseconds(), RebalanceTimeout: member.rebalance.Milliseconds(),
			Protocols: member.protocols, Assignment: member.assignment,
		})
	}
	return s
}

// Encode returns the snapshot as the value of a record.
func (s Snapshot) Encode() ([]byte, error) { return json.Marshal(s) }

// DecodeSnapshot reads the value of a record. An unknown version is a *slot.VersionError. Nothing is kept of the argument.
func DecodeSnapshot(value []byte) (Snapshot, error) {
	var s Snapshot
	if err := json.Unmarshal(value, &s); err != nil {
		return Snapshot{}, fmt.Errorf("group: %w", err)
	}
	return s, slot.CheckVersion(slot.KindGroup, s.Version)
}

// Restore returns the group of a snapshot, Stable if it has members. The effects set the sessions of the members; a group above the maximum
// size rebalances.
func Restore(c Config, s Snapshot) (*Machine, Effects) {
	m := NewMachine(c)
	m.protocolType, m.generation, m.protocol = s.ProtocolType, s.Generation, s.Protocol
	for _, stored := range s.Members {
		member := &member{
			id: stored.MemberID, instanceID: stored.InstanceID, clientID: stored.ClientID, clientHost: stored.ClientHost,
			session:   time.Duration(stored.SessionTimeout) * time.Millisecond,
			rebalance: time.Duration(stored.RebalanceTimeout) * time.Millisecond,
			protocols: stored.Protocols, assignment: stored.Assignment,
		}
		m.members.add(member)
		m.beat(member)
		m.state = Stable
	}
	if m.state == Stable {
		m.leader = m.members.order[0].id
		if m.members.byID[s.Leader] != nil {
			m.leader = s.Leader
		}
	}
	m.topics = m.subscribed()
	if len(m.members.order) > c.MaxSize {
		m.rebalance("the group is above the maximum size")
	}
	return m, m.take()
}
