package transcripts

import "github.com/twmb/franz-go/pkg/kmsg"

// leaving is a request that names one member at the old versions, and all from v3 on. An instance id follows a member's id, "" for none.
func leaving(group string, members ...string) *kmsg.LeaveGroupRequest {
	request := kmsg.NewPtrLeaveGroupRequest()
	request.Group = group
	for i := 0; i+1 < len(members); i += 2 {
		member := kmsg.NewLeaveGroupRequestMember()
		if member.MemberID = members[i]; members[i+1] != "" {
			member.InstanceID = &members[i+1]
		}
		request.Members, request.MemberID = append(request.Members, member), members[i]
	}
	return request
}

func leaveGroupScript(t *Talk) {
	const group = "leave-group"
	t.Coordinated(group)
	t.AskEach("an unknown group", 0, 5, leaving(group, "nobody", ""))
	for _, id := range groupIDs {
		t.Ask(id.name, 2, leaving(id.id, "nobody", ""))
		t.Ask(id.name, 5, leaving(id.id, "nobody", ""))
	}
	t.AskEach("no member of an unknown group", 3, 5, leaving(group))
	t.Stable(group, "member", "range")
	t.AskEach("an unknown member", 0, 5, leaving(group, "nobody", ""))
	t.AskEach("an unknown instance", 3, 5, leaving(group, "", "nobody"))
	t.Ask("an unknown member and instance", 5, leaving(group, "nobody", "nobody"))
	t.Ask("no member", 2, leaving(group, "", ""))
	t.AskEach("no members", 3, 5, leaving(group))
	for version := range int16(6) {
		own := group + "-of-one"
		member, _ := t.Stable(own, "member", "range")
		t.Ask("the only member", version, leaving(own, member, ""))
		t.Ask("the only member again", version, leaving(own, member, ""))
		t.Ask("the group that it has left", version, describeGroups(own))
	}
	reserved := t.Reserved(group, "reserved", "range")
	t.Ask("a reserved id", 5, leaving(group, reserved, ""))
	t.Ask("a reserved id again", 5, leaving(group, reserved, ""))
	leaveGroupSeveral(t)
}

func leaveGroupSeveral(t *Talk) {
	const group = "leave-group-several"
	static, _ := t.StableStatic(group, "static", "one", "range")
	t.Ask("an instance with another's member id", 5, leaving(group, "nobody", "one"))
	t.Ask("a static member by its member id", 5, leaving(group, static, ""))
	t.StableStatic(group, "static", "one", "range")
	reserved := t.Reserved(group, "reserved", "range")
	t.Ask("several, known and unknown, one twice", 5, leaving(group, "nobody", "", "", "one", reserved, "", "", "one", "", ""))
	t.State("a group that several have left", group)
	static, _ = t.StableStatic(group, "static", "one", "range")
	t.Ask("a static member by both its ids", 4, leaving(group, static, "one"))
	t.StableStatic(group, "static", "one", "range")
	t.Ask("a static member by its instance id", 3, leaving(group, "", "one"))
}
