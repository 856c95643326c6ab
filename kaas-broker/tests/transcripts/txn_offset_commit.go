package transcripts

import (
	"strings"
)

func txnOffsetCommitScript(t *Talk) {
	const group, topic = "txn-offset-commit", "txn-offset-commit"
	t.Topic(topic, 3)
	t.Coordinated(group)
	p := t.second(topic, "producer")
	for _, stranger := range strangers(p) {
		t.AskEach(stranger.name, 0, 3, staging(stranger.producer, group, topic, 0, 5))
	}
	t.AskEach("before the transaction", 0, 3, staging(p, group, topic, 0, 5))
	t.Prepare(3, addingGroup(p, group))
	t.Ask("a group that was not added", 3, staging(p, group+"-other", topic, 0, 5))
	t.AskEach("an offset", 0, 3, staging(p, group, topic, 0, 5))
	t.AskEach("an unknown topic", 0, 3, staging(p, group, "txn-offset-commit-unknown", 0, 5))
	t.Ask("an unknown partition", 3, staging(p, group, topic, 9, 5))
	mixed := staging(p, group, topic, 1, 6)
	mixed.Topics = append(mixed.Topics, staging(p, group, "txn-offset-commit-unknown", 0, 5).Topics...)
	t.Ask("known and unknown ones", 3, mixed)
	large := staging(p, group, topic, 2, 7)
	large.Topics[0].Partitions[0].Metadata = new(strings.Repeat("m", 4097))
	t.Ask("large metadata", 3, large)
	for _, id := range groupIDs[:1] {
		t.Ask("a group with "+id.name, 3, staging(p, id.id, topic, 0, 5))
	}
	stable := fetching(group, topic, 0, 1, 2)
	t.Ask("what is committed while the transaction is open", 8, stable)
	stable.RequireStable = true
	t.AskEach("what is stable while the transaction is open", 7, 9, stable)
	all := fetchingAll(group)
	all.RequireStable = true
	t.Ask("all that is stable while the transaction is open", 8, all)
	t.Ask("a later offset", 3, staging(p, group, topic, 0, 8))
	t.Ended(p, true)
	t.AskEach("what is stable after the commit", 7, 9, stable)
	t.Ask("after the transaction", 3, staging(p, group, topic, 0, 9))
	txnOffsetAborted(t, p, group, topic)
	txnOffsetPlain(t, p, group, topic)
	txnOffsetMembers(t, p, topic)
}

func txnOffsetAborted(t *Talk, p producer, group, topic string) {
	t.Staged(p, group, topic, 0, 100)
	t.Ended(p, false)
	t.Ask("what is committed after an abort", 8, fetchingAll(group))
	t.Staged(p, "txn-offset-aborted", topic, 0, 100)
	t.State("a group with an open transaction only", "txn-offset-aborted")
	t.Ask("deletion of a group with an open transaction", 2, deleteGroups("txn-offset-aborted"))
	t.State("a group deleted in an open transaction", "txn-offset-aborted")
	t.Ended(p, true)
	t.Ask("what a deleted group gets from a commit", 8, fetchingAll("txn-offset-aborted"))
}

// txnOffsetPlain commits beside an open transaction.
func txnOffsetPlain(t *Talk, p producer, group, topic string) {
	t.Staged(p, group, topic, 0, 200)
	t.Staged(p, group, topic, 1, 201)
	t.Ask("a plain commit beside the transaction", 8, committing(group, "", simple, topic, 0, 150))
	t.Ask("what is committed then", 8, fetchingAll(group))
	stable := fetching(group, topic, 0, 1)
	stable.RequireStable = true
	t.Ask("what is stable then", 8, stable)
	t.Ended(p, true)
	t.Ask("what is committed after the transaction", 8, fetchingAll(group))
}

// txnOffsetMembers names members of a live group (KIP-447).
func txnOffsetMembers(t *Talk, p producer, topic string) {
	const group = "txn-offset-members"
	member, generation := t.Stable(group, "member", "range")
	t.Prepare(3, addingGroup(p, group))
	for _, c := range []struct {
		name       string
		member     string
		generation int32
		instance   *string
	}{
		{"a member", member, generation, nil},
		{"an unknown member", "nobody", generation, nil},
		{"the generation before", member, generation - 1, nil},
		{"the next generation", member, generation + 1, nil},
		{"nobody in particular", "", simple, nil},
		{"a member without generation", member, simple, nil},
		{"a generation without a member", "", generation, nil},
		{"an unknown instance", member, generation, new("nobody")},
	} {
		request := staging(p, group, topic, 0, 5)
		request.MemberID, request.Generation, request.InstanceID = c.member, c.generation, c.instance
		t.Ask(c.name, 3, request)
	}
	t.Ask("a version without members", 2, staging(p, group, topic, 1, 5))
	t.Ended(p, true)
	t.Ask("what members have committed", 8, fetchingAll(group))
	static, generation := t.StableStatic(group+"-static", "static", "one", "range")
	t.Prepare(9, joiningStatic(group+"-static", "", "one", "range"))
	t.Prepare(3, addingGroup(p, group+"-static"))
	fenced := staging(p, group+"-static", topic, 0, 5)
	fenced.MemberID, fenced.Generation, fenced.InstanceID = static, generation, new("one")
	t.Ask("a static member that was replaced", 3, fenced)
	unknown := staging(p, group+"-static", topic, 0, 5)
	unknown.MemberID, unknown.Generation = "nobody", 0
	t.Ask("a member of a generation that never was", 3, unknown)
	t.Prepare(3, ended(p, false))
	t.Completed(p.transactional)
}
