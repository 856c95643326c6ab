package transcripts

func addOffsetsToTxnScript(t *Talk) {
	const name = "add-offsets-to-txn"
	t.Coordinated(name)
	p := t.second(name, "producer")
	for _, stranger := range strangers(p) {
		t.AskEach(stranger.name, 0, 3, addingGroup(stranger.producer, name))
	}
	t.AskEach("a group", 0, 3, addingGroup(p, name))
	for _, id := range groupIDs {
		t.Ask("a group with "+id.name, 3, addingGroup(p, id.id))
	}
	t.Ask("the end", 3, ended(p, true))
	t.Completed(name)
	t.Ask("the end again", 3, ended(p, true))
}
