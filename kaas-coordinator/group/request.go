package group

import "time"

// Protocol is one way of assigning that a member offers, most wanted first. Metadata means nothing here, save for the topics of consumers.
type Protocol struct {
	Name     string `json:"name"`
	Metadata []byte `json:"metadata"`
}

// JoinRequest asks to be a member of the next generation.
type JoinRequest struct {
	MemberID   string  // empty in the first join
	InstanceID *string // of a static member; nil: dynamic
	ClientID   string
	ClientHost string // address, for people who look at the group

	SessionTimeout   time.Duration // without a heartbeat before the member is removed
	RebalanceTimeout time.Duration // for joining again; v0 has none: the session timeout
	ProtocolType     string        // such as "consumer", "connect", "sr"
	Protocols        []Protocol
	Reason           string // for logs (KIP-800)

	RequireMemberID   bool // v4 and above: a new dynamic member is told its id and joins again
	CanSkipAssignment bool // v9 and above

	// NewMemberID is the id that a new member gets; Live fills it.
	NewMemberID string
	// Kept is called, if it is set, when nothing of the request is looked at any more, before its answer is waited for.
	Kept func()
}

// JoinResult answers a join. With an error only MemberID means something.
type JoinResult struct {
	Err            error
	MemberID       string
	Generation     int32 // -1 with an error
	ProtocolType   string
	Protocol       string
	Leader         string
	SkipAssignment bool         // the leader of a stable group must not assign
	Members        []JoinMember // for the leader: everybody to assign to
}

// JoinMember is one member as the leader sees it.
type JoinMember struct {
	MemberID   string
	InstanceID *string
	Metadata   []byte // of the chosen protocol
}

// Identity is how members name themselves in everything but joins.
type Identity struct {
	MemberID   string
	InstanceID *string
	Generation int32
}

// SyncRequest asks for the member's assignment; the leader's brings everybody's.
type SyncRequest struct {
	Identity
	// RequireProtocol is set for v5 and above, where type and name must be given.
	RequireProtocol bool
	ProtocolType    *string // nil: not given, not checked
	Protocol        *string
	Assignments     []Assignment
	// Kept is called, if it is set, when nothing of the request is looked at any more, before its answer is waited for.
	Kept func()
}

// Assignment is what the leader gives to a member. The bytes mean nothing here.
type Assignment struct {
	MemberID string
	Data     []byte
}

// SyncResult answers a sync. Assignment is empty, never nil, for a member that the leader left out.
type SyncResult struct {
	Err          error
	ProtocolType string
	Protocol     string
	Assignment   []byte
}

// LeaveRequest names a member that goes. An administrator names a static member by its instance id alone.
type LeaveRequest struct {
	MemberID   string
	InstanceID *string
	Reason     string // for logs (KIP-800)
}
