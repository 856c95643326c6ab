package transcripts

func heartbeatScript(t *Talk) {
	const group = "heartbeat"
	t.Coordinated(group)
	t.AskEach("an unknown group", 0, 4, heartbeatOf(group, "nobody", 1))
	for _, id := range groupIDs {
		t.Ask(id.name, 4, heartbeatOf(id.id, "nobody", 1))
	}
	reserved := t.Reserved(group, "reserved", "range")
	t.Ask("a reserved id", 4, heartbeatOf(group, reserved, -1))
	t.Ask("a reserved id with generation 0", 4, heartbeatOf(group, reserved, 0))
	member, generation := t.Joined(group, "member", "range")
	t.AskEach("before the assignment", 0, 4, heartbeatOf(group, member, generation))
	t.synced(group, member, generation, member, "a")
	t.AskEach("a member", 0, 4, heartbeatOf(group, member, generation))
	t.Ask("an unknown member", 4, heartbeatOf(group, "nobody", generation))
	t.Ask("no member", 4, heartbeatOf(group, "", generation))
	t.Ask("a generation too high", 4, heartbeatOf(group, member, generation+1))
	t.Ask("a generation too low", 4, heartbeatOf(group, member, generation-1))
	t.Ask("generation -1", 4, heartbeatOf(group, member, -1))
	static := heartbeatOf(group, member, generation)
	static.InstanceID = new("nobody")
	t.Ask("an instance id that is unknown", 3, static)
	t.Ask("an instance id that is unknown", 4, static)
	empty := heartbeatOf(group, member, generation)
	empty.InstanceID = new("")
	t.Ask("an empty instance id", 4, empty)
}
