package transcripts

func describeGroupsScript(t *Talk) {
	const group = "describe-groups"
	t.Coordinated(group)
	t.AskEach("an unknown group", 0, 5, describeGroups(group+"-unknown"))
	for _, id := range groupIDs {
		t.Ask(id.name, 4, describeGroups(id.id))
	}
	t.AskEach("no group", 0, 5, describeGroups())
	t.Reserved(group+"-reserved", "reserved", "range")
	t.AskEach("a group with a reserved id", 0, 5, describeGroups(group+"-reserved"))
	member, generation := t.Joined(group, "member", "range", "sticky")
	t.AskEach("a group without assignments", 0, 5, describeGroups(group))
	t.synced(group, member, generation, member, "assigned")
	t.AskEach("a stable group", 0, 5, describeGroups(group))
	t.StableStatic(group+"-static", "static", "instance", "range")
	t.AskEach("a static member", 0, 5, describeGroups(group+"-static"))
	t.Topic(group, 1)
	t.Prepare(8, committing(group+"-simple", "", simple, group, 0, 1))
	t.AskEach("a group of a simple consumer", 0, 5, describeGroups(group+"-simple"))
	operations := describeGroups(group, group+"-unknown", group+"-simple")
	operations.IncludeAuthorizedOperations = true
	t.AskEach("authorized operations", 3, 5, operations)
	t.Ask("a group twice", 5, describeGroups(group+"-simple", group+"-simple"))
	t.Prepare(5, leaving(group, member, ""))
	t.AskEach("an empty group", 0, 5, describeGroups(group))
}
