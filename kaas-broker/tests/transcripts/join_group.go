package transcripts

import (
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// shortSessions are the settings of a broker whose groups are small and whose members are forgotten soon.
func shortSessions() map[string]string {
	return map[string]string{"group.min.session.timeout.ms": "500", "group.max.session.timeout.ms": "60000", "group.max.size": "2"}
}

func joinGroupScript(t *Talk) {
	t.Coordinated("join-group")
	for version := range int16(4) {
		t.Ask("a new member", version, joining("join-group-v"+strconv.Itoa(int(version)), "", "range"))
	}
	t.AskEach("a new member", 4, 9, joining("join-group-reserved", "", "range"))
	t.State("a group whose members have only reserved their ids", "join-group-reserved")
	for version := int16(4); version <= 9; version++ {
		group := "join-group-v" + strconv.Itoa(int(version))
		t.Ask("a member with the id it was given", version, joining(group, t.Reserved(group, "member", "range"), "range", "roundrobin"))
	}
	joinGroupRefusals(t)
	joinGroupSecond(t)
	joinGroupTooMany(t)
	joinGroupForgotten(t)
}

func joinGroupRefusals(t *Talk) {
	const group = "join-group-refusals"
	t.AskEach("an unknown member of an unknown group", 0, 9, joining(group, "nobody", "range"))
	t.Stable(group, "member", "range")
	t.AskEach("an unknown member", 0, 9, joining(group, "nobody", "range"))
	for _, id := range groupIDs {
		t.Ask(id.name, 5, joining(id.id, "", "range"))
	}
	for _, ms := range []int32{499, 60001, 0, -1} {
		request := joining(group, "", "range")
		request.SessionTimeoutMillis = ms
		t.AskEach("a session of "+strconv.Itoa(int(ms))+" ms", 3, 5, request)
	}
	for _, ms := range []int32{0, -1} {
		request := joining("join-group-rebalance"+strconv.Itoa(int(ms)), "", "range")
		request.RebalanceTimeoutMillis = ms
		t.Ask("a rebalance timeout of "+strconv.Itoa(int(ms))+" ms", 3, request)
	}
	for _, c := range []struct {
		name, kind string
		protocols  []string
	}{
		{"no protocols", "consumer", nil},
		{"no type", "", []string{"range"}},
		{"another type", "connect", []string{"range"}},
		{"another protocol", "consumer", []string{"sticky"}},
		{"another protocol and a common one", "consumer", []string{"sticky", "range"}},
	} {
		request := joining(group, "", c.protocols...)
		request.ProtocolType = c.kind
		if c.name != "another protocol and a common one" {
			t.Ask("a new member with "+c.name, 3, request)
		}
		t.Ask("a new member with "+c.name, 5, request)
		first := joining("join-group-first", "", c.protocols...)
		first.ProtocolType = c.kind
		t.Ask("a first member with "+c.name, 5, first)
		if c.name == "no protocols" || c.name == "no type" {
			t.Ask("a first member with "+c.name, 2, first)
			continue
		}
		known := joining(group, t.Reserved(group, "other", "range"), c.protocols...)
		known.ProtocolType = c.kind
		if c.name != "another protocol and a common one" {
			t.Ask("a member with its id and "+c.name, 5, known)
		}
	}
	t.State("a group after refusals", group)
	t.State("a group whose first members were refused", "join-group-first")
	joinGroupAlone(t)
}

// joinGroupAlone has the only member of a group join again.
func joinGroupAlone(t *Talk) {
	const group = "join-group-alone"
	member, _ := t.Stable(group, "member", "range")
	t.AskEach("the only member again", 4, 9, joining(group, member, "range"))
	t.Ask("the only member with another protocol", 5, joining(group, member, "sticky"))
	t.Ask("a protocol twice", 5, joining(group, member, "range", "range"))
}

// joinGroupSecond has a second member join, which makes the first one join again.
func joinGroupSecond(t *Talk) {
	const group = "join-group-second"
	first, generation := t.Stable(group, "first", "roundrobin", "range")
	second := t.Reserved(group, "second", "range")
	waiting := t.Begin("a second member", 9, joining(group, second, "range"))
	t.State("while members join", group)
	t.Ask("heartbeat while members join", 4, heartbeatOf(group, first, generation))
	t.Ask("sync while members join", 5, syncing(group, first, generation))
	t.Ask("a commit while members join", 8, committing(group, first, generation, "join-group-unknown", 0, 1))
	t.Ask("the first member again", 9, joining(group, first, "roundrobin", "range"))
	waiting.End()
	t.State("when members have joined", group)
	t.Ask("heartbeat when members have joined", 4, heartbeatOf(group, first, generation+1))
	follower := t.Begin("sync of the second member", 5, syncing(group, second, generation+1, first, "wrong", second, "wrong"))
	leader := syncing(group, first, generation+1, first, "one", second, "two")
	t.Ask("sync of the first member", 5, leader)
	follower.End()
	t.State("when members have their assignments", group)
	again := t.Begin("the leader again", 5, joining(group, first, "range"))
	t.Ask("the second member again", 5, joining(group, second, "range"))
	again.End()
}

func joinGroupTooMany(t *Talk) {
	const group = "join-group-full"
	first, _ := t.Stable(group, "first", "range")
	second := t.Reserved(group, "second", "range")
	third := t.Reserved(group, "third", "range")
	waiting := t.Begin("the second of two members", 5, joining(group, second, "range"))
	t.Ask("the first of two members", 5, joining(group, first, "range"))
	waiting.End()
	t.Ask("a member too many, with its id", 5, joining(group, third, "range"))
	t.Ask("a member too many", 5, joining(group, "", "range"))
	t.Ask("a member too many", 3, joining(group, "", "range"))
	t.Ask("a static member too many", 5, joiningStatic(group, "", "instance", "range"))
	t.State("a full group", group)
}

// joinGroupForgotten waits until sessions end.
func joinGroupForgotten(t *Talk) {
	const group = "join-group-forgotten"
	request := joining(group, "", "range")
	request.SessionTimeoutMillis = 600
	reserved := t.Prepare(5, request).(*kmsg.JoinGroupResponse).MemberID
	t.Member(reserved, "reserved")
	alone := joining(group+"-alone", "", "range")
	alone.SessionTimeoutMillis = 600
	gone := t.Prepare(3, alone).(*kmsg.JoinGroupResponse)
	t.Member(gone.MemberID, "gone")
	t.synced(group+"-alone", gone.MemberID, gone.Generation, gone.MemberID, "a")
	time.Sleep(1500 * time.Millisecond)
	request.MemberID = reserved
	t.Ask("a member whose reserved id is forgotten", 5, request)
	t.State("a group whose reserved id is forgotten", group)
	t.Ask("heartbeat after the session", 4, heartbeatOf(group+"-alone", gone.MemberID, gone.Generation))
	t.State("a group whose member is forgotten", group+"-alone")
	t.Ask("the next member", 3, joining(group+"-alone", "", "range"))
}
