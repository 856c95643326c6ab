package group

import "errors"

// Why a request of a member is refused. Each stands for one Kafka error code.
var (
	// ErrNotAvailable is COORDINATOR_NOT_AVAILABLE (15): the group has just ended here, or its state could not be stored.
	ErrNotAvailable = errors.New("group is not available")
	// ErrIllegalGeneration is ILLEGAL_GENERATION (22).
	ErrIllegalGeneration = errors.New("generation is not the group's")
	// ErrInconsistentProtocol is INCONSISTENT_GROUP_PROTOCOL (23).
	ErrInconsistentProtocol = errors.New("no protocol in common with the group")
	// ErrUnknownMember is UNKNOWN_MEMBER_ID (25).
	ErrUnknownMember = errors.New("member is not in the group")
	// ErrSessionTimeout is INVALID_SESSION_TIMEOUT (26).
	ErrSessionTimeout = errors.New("session timeout is out of bounds")
	// ErrRebalancing is REBALANCE_IN_PROGRESS (27).
	ErrRebalancing = errors.New("group is rebalancing")
	// ErrMemberIDRequired is MEMBER_ID_REQUIRED (79): the answer carries the id to join with.
	ErrMemberIDRequired = errors.New("join again with the member id")
	// ErrGroupMaxSize is GROUP_MAX_SIZE_REACHED (81).
	ErrGroupMaxSize = errors.New("group is full")
	// ErrFencedInstance is FENCED_INSTANCE_ID (82): another member has the instance id now.
	ErrFencedInstance = errors.New("instance id belongs to another member")
)
