package transcripts

import "github.com/twmb/franz-go/pkg/kmsg"

// restartGroupsScript asks about the groups that there were before the broker was restarted.
func restartGroupsScript(t *Talk) {
	const group, topic = "restart-groups", "restart-groups"
	t.Topic(topic, 2)
	t.Coordinated(group)
	member, generation := t.Stable(group, "member", "range")
	t.Prepare(8, committing(group, member, generation, topic, 0, 5))
	t.Prepare(8, committing(group+"-simple", "", simple, topic, 1, 6))
	t.Prepare(8, committing(group+"-deleted", "", simple, topic, 1, 6))
	t.Prepare(2, deleteGroups(group+"-deleted"))
	static, staticGeneration := t.StableStatic(group+"-static", "static", "one", "range")
	joined, joinedGeneration := t.Joined(group+"-joined", "joined", "range")
	t.Restart()
	t.Coordinated(group)
	t.Learn(topic)
	t.State("a stable group", group)
	t.State("a static member's group", group+"-static")
	t.State("a group without assignments", group+"-joined")
	t.State("a simple consumer's group", group+"-simple")
	t.State("a deleted group", group+"-deleted")
	t.Ask("heartbeat of a member", 4, heartbeatOf(group, member, generation))
	t.Ask("heartbeat of a member without assignment", 4, heartbeatOf(group+"-joined", joined, joinedGeneration))
	sync := syncing(group, member, generation)
	t.Ask("assignment of a member", 5, sync)
	t.Ask("commit of a member", 8, committing(group, member, generation, topic, 0, 7))
	t.Ask("offsets of a group", 8, fetchingAll(group))
	t.Ask("offsets of a simple consumer", 8, fetchingAll(group+"-simple"))
	t.Ask("offsets of a deleted group", 8, fetchingAll(group+"-deleted"))
	heartbeat := heartbeatOf(group+"-static", static, staticGeneration)
	heartbeat.InstanceID = new("one")
	t.Ask("heartbeat of a static member", 4, heartbeat)
	back := t.Ask("a static member comes back", 9, joiningStatic(group+"-static", "", "one", "range")).(*kmsg.JoinGroupResponse)
	t.Member(back.MemberID, "static again")
	t.Ask("heartbeat of the static member before", 4, heartbeat)
	t.Ask("all groups", 4, listGroups())
}
