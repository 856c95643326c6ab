package api_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-coordinator"
	"github.com/kaas-rs/kaas/kaas-protocol"
)

func TestFindCoordinator(t *testing.T) {
	b := groupBench(t)
	for _, version := range []int16{0, 1, 2, 3, 4} {
		request := kmsg.NewPtrFindCoordinatorRequest()
		request.Version, request.CoordinatorKey, request.CoordinatorKeys = version, "workers", []string{"workers", ""}
		response := ask[*kmsg.FindCoordinatorResponse](b, request)
		rows := response.Coordinators
		if version < 4 {
			rows = []kmsg.FindCoordinatorResponseCoordinator{{NodeID: response.NodeID, Host: response.Host, Port: response.Port, ErrorCode: response.ErrorCode, ErrorMessage: response.ErrorMessage}}
		} else if len(rows) != 2 || rows[0].Key != "workers" {
			t.Fatalf("v4: %+v", rows)
		}
		for _, row := range rows {
			want := "NONE"
			if version == 4 {
				want = ""
			}
			if version > 0 && *row.ErrorMessage != want {
				t.Errorf("v%d says %q", version, *row.ErrorMessage)
			}
			if row.ErrorCode != 0 || row.NodeID != nodeID || row.Host != host || row.Port != port {
				t.Errorf("v%d: %+v", version, row)
			}
		}
		for kind, want := range map[int8]*kerr.Error{1: nil, 7: kerr.InvalidRequest} {
			if request.CoordinatorType = kind; version == 0 {
				continue
			}
			response := ask[*kmsg.FindCoordinatorResponse](b, request)
			code, node := response.ErrorCode, response.NodeID
			if version == 4 {
				code, node = response.Coordinators[0].ErrorCode, response.Coordinators[0].NodeID
			}
			expectCode(t, "another type", code, want)
			if (node == -1) != (want != nil) {
				t.Errorf("v%d: error %d with node %d", version, code, node)
			}
		}
	}
}

func TestJoinGroupRefusals(t *testing.T) {
	b := groupBench(t)
	for name, test := range map[string]struct {
		version int16
		change  func(*kmsg.JoinGroupRequest)
		want    *kerr.Error
	}{
		"empty group id":          {9, func(r *kmsg.JoinGroupRequest) { r.Group = "" }, kerr.InvalidGroupID},
		"session too short":       {9, func(r *kmsg.JoinGroupRequest) { r.SessionTimeoutMillis = 5999 }, kerr.InvalidSessionTimeout},
		"session too long":        {9, func(r *kmsg.JoinGroupRequest) { r.SessionTimeoutMillis = 1_800_001 }, kerr.InvalidSessionTimeout},
		"unknown member":          {9, func(r *kmsg.JoinGroupRequest) { r.MemberID = "nobody" }, kerr.UnknownMemberID},
		"member id is required":   {4, func(*kmsg.JoinGroupRequest) {}, kerr.MemberIDRequired},
		"no protocols":            {3, func(r *kmsg.JoinGroupRequest) { r.Protocols = nil }, kerr.InconsistentGroupProtocol},
		"empty type":              {3, func(r *kmsg.JoinGroupRequest) { r.ProtocolType = "" }, kerr.InconsistentGroupProtocol},
		"rebalance time of v0":    {0, func(*kmsg.JoinGroupRequest) {}, nil},
		"static needs no id":      {5, func(r *kmsg.JoinGroupRequest) { r.InstanceID = kmsg.StringPtr("first") }, nil},
		"any type of protocol":    {3, func(r *kmsg.JoinGroupRequest) { r.ProtocolType = "sr" }, nil},
		"bytes that mean nothing": {3, func(r *kmsg.JoinGroupRequest) { r.Protocols[0].Metadata = []byte{1} }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			request := joinOf(test.version, "")
			request.Group = strings.ReplaceAll(name, " ", "-")
			test.change(request)
			joined := b.join(request)
			expectCode(t, "join", joined.ErrorCode, test.want)
			switch {
			case test.want == kerr.MemberIDRequired && !strings.HasPrefix(joined.MemberID, "-"):
				t.Errorf("member id %q", joined.MemberID)
			case test.want != nil && joined.Generation != -1:
				t.Errorf("generation %d", joined.Generation)
			case test.want == nil && (joined.Generation != 1 || joined.LeaderID != joined.MemberID || len(joined.Members) != 1):
				t.Errorf("%+v", joined)
			}
		})
	}
}

func TestSyncGroup(t *testing.T) {
	b := groupBench(t)
	member := b.member()
	if again := b.sync(5, member, 1, "ignored"); again.ErrorCode != 0 || string(again.MemberAssignment) != "assigned" ||
		*again.ProtocolType != "consumer" || *again.Protocol != "range" {
		t.Errorf("%+v", again)
	}
	expectCode(t, "another generation", b.sync(5, member, 2, "").ErrorCode, kerr.IllegalGeneration)
	expectCode(t, "unknown member", b.sync(5, "nobody", 1, "").ErrorCode, kerr.UnknownMemberID)
	request := kmsg.NewPtrSyncGroupRequest()
	request.Version, request.Group, request.MemberID, request.Generation = 5, "nowhere", "nobody", 9
	expectCode(t, "without the protocol", ask[*kmsg.SyncGroupResponse](b, request).ErrorCode, kerr.InconsistentGroupProtocol)
	request.ProtocolType, request.Protocol = kmsg.StringPtr("consumer"), kmsg.StringPtr("range")
	expectCode(t, "unknown group", ask[*kmsg.SyncGroupResponse](b, request).ErrorCode, kerr.UnknownMemberID)
	request.Group, request.MemberID, request.Generation, request.Protocol = "workers", member, 1, kmsg.StringPtr("sticky")
	expectCode(t, "another protocol", ask[*kmsg.SyncGroupResponse](b, request).ErrorCode, kerr.InconsistentGroupProtocol)
}

func TestHeartbeat(t *testing.T) {
	b := groupBench(t)
	member := b.member()
	expectCode(t, "member", b.beat("workers", member, 1), nil)
	expectCode(t, "another generation", b.beat("workers", member, 0), kerr.IllegalGeneration)
	expectCode(t, "unknown member", b.beat("workers", "nobody", 1), kerr.UnknownMemberID)
	expectCode(t, "unknown group", b.beat("nowhere", member, 1), kerr.UnknownMemberID)
	expectCode(t, "empty group id", b.beat("", member, 1), kerr.InvalidGroupID)
}

func TestLeaveGroup(t *testing.T) {
	b := groupBench(t)
	member := b.member()
	old := kmsg.NewPtrLeaveGroupRequest()
	old.Version, old.Group, old.MemberID = 2, "workers", "nobody"
	expectCode(t, "before v3", ask[*kmsg.LeaveGroupResponse](b, old).ErrorCode, kerr.UnknownMemberID)
	request := kmsg.NewPtrLeaveGroupRequest()
	request.Version, request.Group = 5, "workers"
	request.Members = []kmsg.LeaveGroupRequestMember{
		{MemberID: "nobody"}, {InstanceID: kmsg.StringPtr("nobody")}, {MemberID: member, Reason: kmsg.StringPtr("enough")},
	}
	response := ask[*kmsg.LeaveGroupResponse](b, request)
	expectCode(t, "v5", response.ErrorCode, nil)
	for i, want := range []*kerr.Error{kerr.UnknownMemberID, kerr.UnknownMemberID, nil} {
		row := response.Members[i]
		expectCode(t, "member", row.ErrorCode, want)
		if row.MemberID != request.Members[i].MemberID {
			t.Errorf("row of %q", row.MemberID)
		}
	}
	expectCode(t, "after it left", b.beat("workers", member, 1), kerr.UnknownMemberID)
	request.Group = ""
	expectCode(t, "empty group id", ask[*kmsg.LeaveGroupResponse](b, request).ErrorCode, kerr.InvalidGroupID)
}

func TestOffsetCommitErrors(t *testing.T) {
	b := groupBench(t)
	member := b.member()
	as := func(version int16, id string, generation int32) *kmsg.OffsetCommitRequest {
		request := commitOf(version, "workers", "events", 0, 5)
		request.MemberID, request.Generation = id, generation
		return request
	}
	long := commitOf(9, "alone", "events", 0, 5)
	long.Topics[0].Partitions[0].Metadata = kmsg.StringPtr(strings.Repeat("m", 4097))
	for name, test := range map[string]struct {
		request *kmsg.OffsetCommitRequest
		want    *kerr.Error
	}{
		"member":                         {as(9, member, 1), nil},
		"another generation":             {as(9, member, 2), kerr.IllegalGeneration},
		"unknown member":                 {as(9, "nobody", 1), kerr.UnknownMemberID},
		"nobody in a group with members": {as(9, "", -1), kerr.UnknownMemberID},
		"generation of an unknown group": {func() *kmsg.OffsetCommitRequest {
			r := commitOf(9, "nowhere", "events", 0, 5)
			r.Generation = 1
			return r
		}(), kerr.IllegalGeneration},
		"unknown topic":     {commitOf(9, "alone", "nothing", 0, 5), kerr.UnknownTopicOrPartition},
		"unknown partition": {commitOf(9, "alone", "events", 2, 5), kerr.UnknownTopicOrPartition},
		"much metadata":     {long, kerr.OffsetMetadataTooLarge},
		"negative offset":   {commitOf(9, "alone", "events", 0, -5), nil},
		"empty group id":    {commitOf(9, "", "events", 0, 5), nil},
		"v0":                {commitOf(0, "alone", "events", 0, 5), kerr.UnsupportedVersion},
		"v1":                {commitOf(1, "old", "events", 0, 5), nil},
		"v4":                {commitOf(4, "old", "events", 0, 5), nil},
	} {
		t.Run(name, func(t *testing.T) { expectCode(t, "commit", b.commit(test.request), test.want) })
	}
}

func TestOneBadPartitionDoesNotHoldUpTheOthers(t *testing.T) {
	b := groupBench(t)
	request := commitOf(9, "alone", "events", 7, 1)
	good := kmsg.NewOffsetCommitRequestTopicPartition()
	good.Partition, good.Offset = 1, 6
	request.Topics[0].Partitions = append(request.Topics[0].Partitions, good)
	rows := ask[*kmsg.OffsetCommitResponse](b, request).Topics[0].Partitions
	expectCode(t, "partition 7", rows[0].ErrorCode, kerr.UnknownTopicOrPartition)
	expectCode(t, "partition 1", rows[1].ErrorCode, nil)
	if row := b.committed(9, "alone", "events", 1); row.Offset != 6 || row.LeaderEpoch != -1 || *row.Metadata != "" {
		t.Errorf("%+v", row)
	}
}

// committed asks for the offset of one partition in any version.
func (b *bench) committed(version int16, id, topic string, partition int32) kmsg.OffsetFetchResponseGroupTopicPartition {
	b.t.Helper()
	request := kmsg.NewPtrOffsetFetchRequest()
	request.Version, request.Group = version, id
	request.Topics = []kmsg.OffsetFetchRequestTopic{{Topic: topic, Partitions: []int32{partition}}}
	wanted := kmsg.NewOffsetFetchRequestGroup()
	wanted.Group, wanted.Topics = id, []kmsg.OffsetFetchRequestGroupTopic{{Topic: topic, Partitions: []int32{partition}}}
	request.Groups = []kmsg.OffsetFetchRequestGroup{wanted}
	response := ask[*kmsg.OffsetFetchResponse](b, request)
	if version >= 8 {
		expectCode(b.t, "group", response.Groups[0].ErrorCode, nil)
		return response.Groups[0].Topics[0].Partitions[0]
	}
	p := response.Topics[0].Partitions[0]
	return kmsg.OffsetFetchResponseGroupTopicPartition{Partition: p.Partition, Offset: p.Offset, LeaderEpoch: p.LeaderEpoch, Metadata: p.Metadata, ErrorCode: p.ErrorCode}
}

func TestOffsetFetch(t *testing.T) {
	b := groupBench(t)
	expectCode(t, "commit", b.commit(commitOf(9, "alone", "events", 1, 42)), nil)
	for version := int16(1); version <= 9; version++ {
		row := b.committed(version, "alone", "events", 1)
		epoch := int32(3)
		if version < 5 {
			epoch = -1
		}
		if row.ErrorCode != 0 || row.Offset != 42 || row.LeaderEpoch != epoch || *row.Metadata != "note" {
			t.Errorf("v%d: %+v", version, row)
		}
		for _, missing := range []kmsg.OffsetFetchResponseGroupTopicPartition{
			b.committed(version, "alone", "events", 0), b.committed(version, "nowhere", "events", 1), b.committed(version, "alone", "nothing", 0),
		} {
			if missing.ErrorCode != 0 || missing.Offset != -1 || missing.LeaderEpoch != -1 || *missing.Metadata != "" {
				t.Errorf("v%d: without an offset: %+v", version, missing)
			}
		}
	}
	expectCode(t, "v0", b.committed(0, "alone", "events", 1).ErrorCode, kerr.UnsupportedVersion)
}

func TestOffsetFetchOfEverything(t *testing.T) {
	b := groupBench(t)
	expectCode(t, "commit", b.commit(commitOf(9, "alone", "events", 1, 42)), nil)
	request := kmsg.NewPtrOffsetFetchRequest()
	request.Version, request.Group = 7, "alone"
	if topics := ask[*kmsg.OffsetFetchResponse](b, request).Topics; len(topics) != 1 || len(topics[0].Partitions) != 1 || topics[0].Partitions[0].Offset != 42 {
		t.Errorf("v7: %+v", topics)
	}
	request.Version = 8
	request.Groups = []kmsg.OffsetFetchRequestGroup{{Group: "nowhere"}, {Group: "alone"}}
	groups := ask[*kmsg.OffsetFetchResponse](b, request).Groups
	if len(groups) != 2 || len(groups[0].Topics) != 0 || len(groups[1].Topics) != 1 || groups[1].Topics[0].Partitions[0].Offset != 42 {
		t.Errorf("v8: %+v", groups)
	}
}

func TestDescribeAndListGroups(t *testing.T) {
	b := groupBench(t)
	member := b.member()
	expectCode(t, "commit", b.commit(commitOf(9, "alone", "events", 1, 42)), nil)
	request := kmsg.NewPtrDescribeGroupsRequest()
	request.Version, request.Groups, request.IncludeAuthorizedOperations = 5, []string{"workers", "alone", "nowhere"}, true
	groups := ask[*kmsg.DescribeGroupsResponse](b, request).Groups
	for i, want := range []string{"Stable", "Empty", "Dead"} {
		if g := groups[i]; g.State != want || g.ErrorCode != 0 || g.Group != request.Groups[i] || g.AuthorizedOperations != 328 {
			t.Errorf("%+v, want %s", g, want)
		}
	}
	if g := groups[0]; g.ProtocolType != "consumer" || g.Protocol != "range" || len(g.Members) != 1 || g.Members[0].MemberID != member ||
		string(g.Members[0].MemberAssignment) != "assigned" {
		t.Errorf("%+v", g)
	}
	for filter, want := range map[string][]string{"": {"alone", "workers"}, "Stable": {"workers"}, "stable": nil, "Empty": {"alone"}} {
		request := kmsg.NewPtrListGroupsRequest()
		if request.Version = 4; filter != "" {
			request.StatesFilter = []string{filter}
		}
		var got []string
		for _, g := range ask[*kmsg.ListGroupsResponse](b, request).Groups {
			got = append(got, g.Group)
		}
		if !slices.Equal(got, want) {
			t.Errorf("state %q: %v, want %v", filter, got, want)
		}
	}
}

func TestDeleteGroups(t *testing.T) {
	b := groupBench(t)
	member := b.member()
	expectCode(t, "commit", b.commit(commitOf(9, "alone", "events", 1, 42)), nil)
	request := kmsg.NewPtrDeleteGroupsRequest()
	request.Version, request.Groups = 2, []string{"workers", "alone", "nowhere", ""}
	for i, want := range []*kerr.Error{kerr.NonEmptyGroup, nil, kerr.GroupIDNotFound, kerr.GroupIDNotFound} {
		row := ask[*kmsg.DeleteGroupsResponse](b, &kmsg.DeleteGroupsRequest{Version: 2, Groups: request.Groups[i : i+1]}).Groups[0]
		expectCode(t, "delete "+row.Group, row.ErrorCode, want)
	}
	if row := b.committed(9, "alone", "events", 1); row.Offset != -1 {
		t.Errorf("offset %d of a deleted group", row.Offset)
	}
	if rows := ask[*kmsg.DeleteGroupsResponse](b, &kmsg.DeleteGroupsRequest{Version: 2, Groups: []string{"a", "b", "a"}}).Groups; len(rows) != 2 {
		t.Errorf("a group that is named twice: %+v", rows)
	}
	expectCode(t, "member", b.beat("workers", member, 1), nil)
}

func TestOffsetDelete(t *testing.T) {
	b := groupBench(t)
	b.topic("other", 1)
	member := b.member()
	inGroup := commitOf(9, "workers", "events", 0, 5)
	inGroup.MemberID, inGroup.Generation = member, 1
	inGroup.Topics = append(inGroup.Topics, commitOf(9, "", "other", 0, 5).Topics[0])
	expectCode(t, "commit", b.commit(inGroup), nil)
	request := kmsg.NewPtrOffsetDeleteRequest()
	request.Group = "workers"
	for _, topic := range []string{"events", "other", "nothing"} {
		request.Topics = append(request.Topics, kmsg.OffsetDeleteRequestTopic{Topic: topic, Partitions: []kmsg.OffsetDeleteRequestTopicPartition{{Partition: 0}}})
	}
	response := ask[*kmsg.OffsetDeleteResponse](b, request)
	expectCode(t, "group", response.ErrorCode, nil)
	for i, want := range []*kerr.Error{kerr.GroupSubscribedToTopic, nil, kerr.UnknownTopicOrPartition} {
		expectCode(t, request.Topics[i].Topic, response.Topics[i].Partitions[0].ErrorCode, want)
	}
	if kept, gone := b.committed(9, "workers", "events", 0), b.committed(9, "workers", "other", 0); kept.Offset != 5 || gone.Offset != -1 {
		t.Errorf("offsets %d and %d", kept.Offset, gone.Offset)
	}
	request.Group = "nowhere"
	expectCode(t, "unknown group", ask[*kmsg.OffsetDeleteResponse](b, request).ErrorCode, kerr.GroupIDNotFound)
	request.Topics = request.Topics[2:]
	expectCode(t, "unknown group and topic", ask[*kmsg.OffsetDeleteResponse](b, request).ErrorCode, kerr.GroupIDNotFound)
}

// denyGroups allows everything but what is done to groups.
type denyGroups struct{}

func (denyGroups) Authorize(_ *protocol.Conn, _ kmsg.ACLOperation, resource kmsg.ACLResourceType, _ string) bool {
	return resource != kmsg.ACLResourceTypeGroup
}

func TestGroupsAreProtected(t *testing.T) {
	b := newBench(t, func(s *setup) {
		s.groups, s.authorizer = &coordinator.Options{}, denyGroups{}
	})
	b.topic("events", 1)
	sync, leave := kmsg.NewPtrSyncGroupRequest(), kmsg.NewPtrLeaveGroupRequest()
	sync.Version, leave.Version = 5, 5
	described := &kmsg.DescribeGroupsRequest{Version: 5, Groups: []string{"workers"}}
	removed, offsets := kmsg.NewPtrOffsetDeleteRequest(), kmsg.NewPtrOffsetFetchRequest()
	removed.Group, offsets.Version, offsets.Group = "workers", 7, "workers"
	for what, code := range map[string]int16{
		"find":           b.findGroup(3, "workers"),
		"join":           b.join(joinOf(9, "")).ErrorCode,
		"sync":           ask[*kmsg.SyncGroupResponse](b, sync).ErrorCode,
		"beat":           b.beat("workers", "member", 1),
		"leave":          ask[*kmsg.LeaveGroupResponse](b, leave).ErrorCode,
		"commit":         b.commit(commitOf(9, "workers", "events", 0, 1)),
		"fetch":          ask[*kmsg.OffsetFetchResponse](b, offsets).ErrorCode,
		"fetch v1":       b.committed(1, "workers", "events", 0).ErrorCode,
		"describe":       ask[*kmsg.DescribeGroupsResponse](b, described).Groups[0].ErrorCode,
		"delete":         ask[*kmsg.DeleteGroupsResponse](b, &kmsg.DeleteGroupsRequest{Version: 2, Groups: []string{"workers"}}).Groups[0].ErrorCode,
		"delete offsets": ask[*kmsg.OffsetDeleteResponse](b, removed).ErrorCode,
	} {
		expectCode(t, what, code, kerr.GroupAuthorizationFailed)
	}
}

// A client that leaves ends its wait, not its membership; a broker that drains sends those who wait away.
func TestWaitingForOthers(t *testing.T) {
	draining := make(chan struct{})
	b := groupBench(t, func(s *setup) { s.draining = draining })
	first := b.member()
	waiting := func(ctx context.Context) (protocol.Reply, error) {
		_, finish := b.start(context.Background(), joinOf(3, ""))
		return finish(ctx)
	}
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := waiting(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a client that left: %v", err)
	}
	expectCode(t, "the other member", b.beat("workers", first, 1), kerr.RebalanceInProgress)
	request := &kmsg.DescribeGroupsRequest{Version: 5, Groups: []string{"workers"}}
	if g := ask[*kmsg.DescribeGroupsResponse](b, request).Groups[0]; g.State != "PreparingRebalance" || len(g.Members) != 2 {
		t.Errorf("%+v", g)
	}
	time.AfterFunc(50*time.Millisecond, func() { close(draining) })
	reply, err := waiting(t.Context())
	must(t, err)
	expectCode(t, "while draining", reply.Message.(*kmsg.JoinGroupResponse).ErrorCode, kerr.NotCoordinator)
}
