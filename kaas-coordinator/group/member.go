package group

import (
	"bytes"
	"slices"
	"time"
)

// member is one member of a group.
type member struct {
	id         string
	instanceID *string
	clientID   string
	clientHost string
	session    time.Duration
	rebalance  time.Duration
	protocols  []Protocol
	assignment []byte
	counted    int64 // bytes in the room of all groups

	join  RequestID // parked join, 0 for none
	sync  RequestID // parked sync, 0 for none
	isNew bool      // in its first join: its session runs although it waits
}

func newMember(id string, r JoinRequest) *member {
	m := &member{id: id, instanceID: clonePointer(r.InstanceID)}
	m.update(r)
	return m
}

// update takes over what a join says. Requests alias their frame, so bytes are copied.
func (m *member) update(r JoinRequest) {
	m.clientID, m.clientHost = r.ClientID, r.ClientHost
	m.session, m.rebalance = r.SessionTimeout, r.RebalanceTimeout
	m.protocols = make([]Protocol, len(r.Protocols))
	for i, p := range r.Protocols {
		m.protocols[i] = Protocol{Name: p.Name, Metadata: bytes.Clone(p.Metadata)}
	}
}

// offers reports whether the member's protocols are exactly these, in this order.
func (m *member) offers(protocols []Protocol) bool {
	return slices.EqualFunc(m.protocols, protocols, func(a, b Protocol) bool {
		return a.Name == b.Name && bytes.Equal(a.Metadata, b.Metadata)
	})
}

// protocolSize is what a protocol takes in memory beside its name and metadata, about.
const protocolSize = 64

// sizeOf is how many bytes of memory protocols take, about.
func sizeOf(protocols []Protocol) int {
	size := 0
	for _, p := range protocols {
		size += protocolSize + len(p.Name) + len(p.Metadata)
	}
	return size
}

// metadata of a protocol, empty when the member does not offer it.
func (m *member) metadata(protocol string) []byte {
	for _, p := range m.protocols {
		if p.Name == protocol {
			return p.Metadata
		}
	}
	return nil
}

// vote is the member's first choice among the candidates.
func (m *member) vote(candidates map[string]bool) string {
	for _, p := range m.protocols {
		if candidates[p.Name] {
			return p.Name
		}
	}
	return ""
}

func clonePointer(s *string) *string {
	if s == nil {
		return nil
	}
	c := *s
	return &c
}

// roster is the members of a group in the order in which they came.
type roster struct {
	byID     map[string]*member
	order    []*member
	static   map[string]*member // by instance id
	support  map[string]int     // how many members offer each protocol
	awaiting int                // members with a parked join
	offers   int                // bytes of all that the members offer
	room     *Room              // that all groups share
}

func newRoster(room *Room) roster {
	return roster{byID: map[string]*member{}, static: map[string]*member{}, support: map[string]int{}, room: room}
}

func (r *roster) add(m *member) {
	r.byID[m.id] = m
	r.order = append(r.order, m)
	if m.instanceID != nil {
		r.static[*m.instanceID] = m
	}
	r.count(m, 1)
	r.recount(m)
}

func (r *roster) remove(m *member) {
	delete(r.byID, m.id)
	r.order = slices.DeleteFunc(r.order, func(other *member) bool { return other == m })
	if m.instanceID != nil && r.static[*m.instanceID] == m {
		delete(r.static, *m.instanceID)
	}
	r.count(m, -1)
	r.vacate(m)
}

// rename gives a static member another id. It keeps its place.
func (r *roster) rename(m *member, id string) {
	delete(r.byID, m.id)
	m.id = id
	r.byID[id] = m
}

// update changes what a member offers.
func (r *roster) update(m *member, request JoinRequest) {
	r.count(m, -1)
	m.update(request)
	r.count(m, 1)
	r.recount(m)
}

// assign gives a member what it is to work on; nil for nothing.
func (r *roster) assign(m *member, assignment []byte) {
	m.assignment = assignment
	r.recount(m)
}

func (r *roster) count(m *member, by int) {
	r.offers += by * sizeOf(m.protocols)
	for _, p := range m.protocols {
		if r.support[p.Name] += by; r.support[p.Name] == 0 {
			delete(r.support, p.Name)
		}
	}
}

// rebalanceTimeout is the longest of all members'.
func (r *roster) rebalanceTimeout() time.Duration {
	longest := time.Duration(0)
	for _, m := range r.order {
		longest = max(longest, m.rebalance)
	}
	return longest
}
