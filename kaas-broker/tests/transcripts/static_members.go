package transcripts

import (
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// staticMembersScript is about members that come back under the same instance id (KIP-345).
func staticMembersScript(t *Talk) {
	t.Coordinated("static-members")
	for version := int16(5); version <= 9; version++ {
		staticMembersReturn(t, "static-members-v"+strconv.Itoa(int(version)), version)
	}
	for i, instance := range groupIDs {
		t.Ask("an instance with "+instance.name, 5, joiningStatic("static-members-"+strconv.Itoa(i), "", instance.id, "range"))
	}
	staticMembersFenced(t)
	staticMembersFollow(t)
}

func staticMembersReturn(t *Talk, group string, version int16) {
	t.Ask("a new instance of a new group", version, joiningStatic(group+"-new", "", "one", "range"))
	_, generation := t.StableStatic(group, "before", "one", "range", "sticky")
	response := t.Ask("the instance comes back", version, joiningStatic(group, "", "one", "range", "sticky")).(*kmsg.JoinGroupResponse)
	t.Member(response.MemberID, "after")
	t.Ask("the group when the instance has come back", version-4, describeGroups(group))
	request := syncing(group, response.MemberID, generation)
	request.InstanceID = new("one")
	t.Ask("the assignment of "+group, 5, request)
	t.Ask("the instance comes back with an unknown member id", version, joiningStatic(group, "nobody", "one", "range", "sticky"))
	t.Ask("an unknown instance with an unknown member id", version, joiningStatic(group, "nobody", "two", "range", "sticky"))
	changed := joiningStatic(group, "", "one", "range", "sticky")
	changed.Protocols[0].Metadata = []byte("changed")
	t.Member(t.Ask("the instance comes back with other metadata", version, changed).(*kmsg.JoinGroupResponse).MemberID, "changed")
	t.Ask("the instance comes back with another protocol", version, joiningStatic(group, "", "one", "sticky"))
	t.State("the group after all at v"+strconv.Itoa(int(version)), group)
}

func staticMembersFenced(t *Talk) {
	const group = "static-members-fenced"
	before, generation := t.StableStatic(group, "before", "one", "range")
	after := t.Prepare(9, joiningStatic(group, "", "one", "range")).(*kmsg.JoinGroupResponse).MemberID
	t.Member(after, "after")
	for _, c := range []struct{ name, member, instance string }{
		{"of the member before", before, "one"},
		{"of the member before, without instance", before, ""},
		{"of the member after", after, "one"},
		{"of the member after, without instance", after, ""},
		{"of the member after, with an unknown instance", after, "two"},
	} {
		heartbeat, sync := heartbeatOf(group, c.member, generation), syncing(group, c.member, generation)
		commit := committing(group, c.member, generation, "static-members-unknown", 0, 1)
		if c.instance != "" {
			heartbeat.InstanceID, sync.InstanceID, commit.InstanceID = &c.instance, &c.instance, &c.instance
		}
		t.Ask("heartbeat "+c.name, 4, heartbeat)
		t.Ask("sync "+c.name, 5, sync)
		t.Ask("commit "+c.name, 8, commit)
		if c.instance == "one" {
			continue
		}
		t.Ask("leave "+c.name, 5, leaving(group+"-unknown", c.member, c.instance))
	}
	t.Ask("join of the member before", 9, joiningStatic(group, before, "one", "range"))
	t.Ask("leave of the member before", 5, leaving(group, before, "one"))
	t.State("a fenced member's group", group)
}

// staticMembersFollow has a second static member come back as follower, and as leader.
func staticMembersFollow(t *Talk) {
	const group = "static-members-follow"
	first, generation := t.StableStatic(group, "first", "one", "range")
	waiting := t.Begin("a second instance", 9, joiningStatic(group, "", "two", "range"))
	t.Ask("the first instance again", 9, joiningStatic(group, first, "one", "range"))
	second := waiting.End().(*kmsg.JoinGroupResponse).MemberID
	t.Member(second, "second")
	assignment := syncing(group, first, generation+1, first, "1", second, "2")
	assignment.InstanceID = new("one")
	t.Ask("assignments of both instances", 5, assignment)
	for version := int16(8); version <= 9; version++ {
		t.Member(t.Ask("the follower comes back", version, joiningStatic(group, "", "two", "range")).(*kmsg.JoinGroupResponse).MemberID, "second again")
		t.Member(t.Ask("the leader comes back", version, joiningStatic(group, "", "one", "range")).(*kmsg.JoinGroupResponse).MemberID, "first again")
	}
	t.State("instances that came back", group)
	t.Ask("one instance leaves", 5, leaving(group, "", "two"))
	t.State("when one instance has left", group)
}
