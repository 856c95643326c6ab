package hostile

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

// seated is one member of a large group.
type seated struct {
	connection *raw
	id         string
	leader     bool
	everybody  []kmsg.JoinGroupResponseMember // of the leader
	generation int32
}

// memberBound is what a member of a large group may cost, its connection and its part of the leader's answers included.
const memberBound = 60 << 10

// A group of a thousand members, each on a connection of its own: all join, get what the leader gives to each of them, live on, and when a part of them leaves the
// others share anew. Small groups beside it do not notice.
func TestGroupOfAThousandMembers(t *testing.T) {
	size := pick(1000, 3000)
	broker := start(t, harness.Options{Overrides: map[string]string{"group.initial.rebalance.delay.ms": "500"}})
	watch(t, broker, int64(size)*memberBound+90*mib)
	runBeside(t, broker.Bootstrap())
	members := make([]*seated, size)
	for i := range members {
		members[i] = &seated{connection: dial(t, broker.Bootstrap())}
	}
	began := time.Now()
	generation := gather(t, members)
	t.Logf("%d members have joined after %v", size, time.Since(began).Round(time.Millisecond))
	together(t, size, func(i int) error { return members[i].beat() })

	left, stay := members[:size/10], members[size/10:]
	together(t, len(left), func(i int) error { return left[i].leave() })
	began = time.Now()
	if next := gather(t, stay); next <= generation {
		t.Errorf("generation %d after %d", next, generation)
	}
	t.Logf("%d members share anew after %v", len(stay), time.Since(began).Round(time.Millisecond))
	together(t, len(stay), func(i int) error { return stay[i].beat() })
}

// gather has all members join, and the leader assign to each its own id.
func gather(t *testing.T, members []*seated) (generation int32) {
	t.Helper()
	together(t, len(members), func(i int) error { return members[i].join() })
	if t.Failed() {
		t.FailNow()
	}
	leaders := 0
	for _, m := range members {
		if m.generation != members[0].generation {
			t.Errorf("generations %d and %d", m.generation, members[0].generation)
		}
		if m.leader {
			leaders++
			if len(m.everybody) != len(members) {
				t.Errorf("the leader sees %d members", len(m.everybody))
			}
		}
	}
	if leaders != 1 {
		t.Errorf("%d leaders", leaders)
	}
	together(t, len(members), func(i int) error { return members[i].sync() })
	return members[0].generation
}

const largeGroup = "large"

// memberPatience is how long one answer may take: the first rebalance waits while members come.
const memberPatience = 60 * time.Second

func (s *seated) join() error {
	for range 100 {
		request := kmsg.NewPtrJoinGroupRequest()
		request.Version = 7
		request.Group, request.ProtocolType, request.MemberID = largeGroup, "consumer", s.id
		request.SessionTimeoutMillis, request.RebalanceTimeoutMillis = 60_000, 60_000
		request.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: make([]byte, 200)}}
		answer, err := s.connection.call(request, memberPatience)
		if err != nil {
			return fmt.Errorf("join: %w", err)
		}
		response := answer.(*kmsg.JoinGroupResponse)
		switch err := kerr.ErrorForCode(response.ErrorCode); {
		case err == nil:
			s.generation, s.leader, s.everybody = response.Generation, response.LeaderID == s.id, response.Members
			return nil
		case errors.Is(err, kerr.MemberIDRequired):
			s.id = response.MemberID
		case kerr.IsRetriable(err):
			time.Sleep(50 * time.Millisecond)
		default:
			return fmt.Errorf("join: %w", err)
		}
	}
	return errors.New("join: no end")
}

func (s *seated) sync() error {
	request := kmsg.NewPtrSyncGroupRequest()
	request.Version = 3
	request.Group, request.MemberID, request.Generation = largeGroup, s.id, s.generation
	for _, member := range s.everybody {
		request.GroupAssignment = append(request.GroupAssignment, kmsg.SyncGroupRequestGroupAssignment{MemberID: member.MemberID, MemberAssignment: []byte(member.MemberID)})
	}
	answer, err := s.connection.call(request, memberPatience)
	if err != nil {
		return fmt.Errorf("sync: %w", err)
	}
	response := answer.(*kmsg.SyncGroupResponse)
	if err := kerr.ErrorForCode(response.ErrorCode); err != nil {
		return fmt.Errorf("sync: %w", err)
	}
	if string(response.MemberAssignment) != s.id {
		return fmt.Errorf("member %s is given %q", s.id, response.MemberAssignment)
	}
	return nil
}

func (s *seated) beat() error {
	request := kmsg.NewPtrHeartbeatRequest()
	request.Version = 3
	request.Group, request.MemberID, request.Generation = largeGroup, s.id, s.generation
	answer, err := s.connection.call(request, memberPatience)
	if err != nil {
		return fmt.Errorf("heartbeat: %w", err)
	}
	return kerr.ErrorForCode(answer.(*kmsg.HeartbeatResponse).ErrorCode)
}

func (s *seated) leave() error {
	request := kmsg.NewPtrLeaveGroupRequest()
	request.Version = 3
	request.Group, request.Members = largeGroup, []kmsg.LeaveGroupRequestMember{{MemberID: s.id}}
	answer, err := s.connection.call(request, memberPatience)
	if err != nil {
		return fmt.Errorf("leave: %w", err)
	}
	return kerr.ErrorForCode(answer.(*kmsg.LeaveGroupResponse).ErrorCode)
}
