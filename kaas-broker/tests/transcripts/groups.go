package transcripts

import (
	"slices"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// joining is a request of a consumer that knows the protocols. An empty member id is that of a new one.
func joining(group, member string, protocols ...string) *kmsg.JoinGroupRequest {
	request := kmsg.NewPtrJoinGroupRequest()
	request.Group, request.MemberID, request.ProtocolType = group, member, "consumer"
	request.SessionTimeoutMillis, request.RebalanceTimeoutMillis = 10000, 3000
	for _, protocol := range protocols {
		request.Protocols = append(request.Protocols, kmsg.JoinGroupRequestProtocol{Name: protocol, Metadata: []byte(protocol[:1])})
	}
	return request
}

// joiningStatic is joining with an instance id.
func joiningStatic(group, member, instance string, protocols ...string) *kmsg.JoinGroupRequest {
	request := joining(group, member, protocols...)
	request.InstanceID = &instance
	return request
}

// syncing is the request of a member that assigns bytes to members: member, bytes, member, bytes.
func syncing(group, member string, generation int32, assignments ...string) *kmsg.SyncGroupRequest {
	request := kmsg.NewPtrSyncGroupRequest()
	request.Group, request.MemberID, request.Generation = group, member, generation
	request.ProtocolType, request.Protocol = new("consumer"), new("range")
	for i := 0; i+1 < len(assignments); i += 2 {
		request.GroupAssignment = append(request.GroupAssignment, kmsg.SyncGroupRequestGroupAssignment{
			MemberID: assignments[i], MemberAssignment: []byte(assignments[i+1]),
		})
	}
	return request
}

func heartbeatOf(group, member string, generation int32) *kmsg.HeartbeatRequest {
	request := kmsg.NewPtrHeartbeatRequest()
	request.Group, request.MemberID, request.Generation = group, member, generation
	return request
}

// anyGroups are so many that each part of a coordinator, of which there are 50, has one of them.
const anyGroups = 400

// Coordinated waits until the broker coordinates every group: parts of a coordinator that has just started may load for longer than others.
func (t *Talk) Coordinated(group string) {
	t.test.Helper()
	groups := []string{group}
	for i := range anyGroups {
		groups = append(groups, "any-"+strconv.Itoa(i))
	}
	for range 400 {
		if groups = slices.DeleteFunc(groups, t.coordinates); len(groups) == 0 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.test.Fatalf("group %s has no coordinator", groups[0])
}

func (t *Talk) coordinates(group string) bool {
	find := kmsg.NewPtrFindCoordinatorRequest()
	find.CoordinatorKeys = []string{group}
	found := t.Prepare(4, find).(*kmsg.FindCoordinatorResponse)
	return found.Coordinators[0].ErrorCode == 0 && t.Prepare(4, heartbeatOf(group, "", 0)).(*kmsg.HeartbeatResponse).ErrorCode == kerr.UnknownMemberID.Code
}

// Reserved has the broker choose a member id, which gets a name in what is recorded.
func (t *Talk) Reserved(group, name string, protocols ...string) string {
	t.test.Helper()
	response := t.Prepare(5, joining(group, "", protocols...)).(*kmsg.JoinGroupResponse)
	if response.ErrorCode != kerr.MemberIDRequired.Code {
		t.test.Fatalf("join %s: %v", group, kerr.ErrorForCode(response.ErrorCode))
	}
	t.Member(response.MemberID, name)
	return response.MemberID
}

// Member gives a member id that a broker chose a name.
func (t *Talk) Member(id, name string) { t.masks.members[id] = name }

// Joined makes a group with one member, the leader, that has no assignment yet.
func (t *Talk) Joined(group, name string, protocols ...string) (member string, generation int32) {
	t.test.Helper()
	t.Coordinated(group)
	member = t.Reserved(group, name, protocols...)
	response := t.Prepare(5, joining(group, member, protocols...)).(*kmsg.JoinGroupResponse)
	if response.ErrorCode != 0 {
		t.test.Fatalf("join %s: %v", group, kerr.ErrorForCode(response.ErrorCode))
	}
	return member, response.Generation
}

// Stable makes a stable group with one member, whose assignment is "a".
func (t *Talk) Stable(group, name string, protocols ...string) (member string, generation int32) {
	t.test.Helper()
	member, generation = t.Joined(group, name, protocols...)
	t.synced(group, member, generation, member, "a")
	return member, generation
}

// StableStatic makes a stable group with one static member, whose assignment is "a".
func (t *Talk) StableStatic(group, name, instance string, protocols ...string) (member string, generation int32) {
	t.test.Helper()
	t.Coordinated(group)
	response := t.Prepare(5, joiningStatic(group, "", instance, protocols...)).(*kmsg.JoinGroupResponse)
	if response.ErrorCode != 0 {
		t.test.Fatalf("join %s: %v", group, kerr.ErrorForCode(response.ErrorCode))
	}
	t.Member(response.MemberID, name)
	request := syncing(group, response.MemberID, response.Generation, response.MemberID, "a")
	request.InstanceID = &instance
	t.Prepare(5, request)
	return response.MemberID, response.Generation
}

func (t *Talk) synced(group, member string, generation int32, assignments ...string) {
	t.test.Helper()
	response := t.Prepare(4, syncing(group, member, generation, assignments...)).(*kmsg.SyncGroupResponse)
	if response.ErrorCode != 0 {
		t.test.Fatalf("sync %s: %v", group, kerr.ErrorForCode(response.ErrorCode))
	}
}

// State asks for the state of a group and its members.
func (t *Talk) State(name, group string) {
	t.test.Helper()
	t.Ask(name, 5, describeGroups(group))
}

func describeGroups(groups ...string) *kmsg.DescribeGroupsRequest {
	request := kmsg.NewPtrDescribeGroupsRequest()
	request.Groups = groups
	return request
}
