package transcripts

func endTxnScript(t *Talk) {
	const topic = "end-txn"
	t.Topic(topic, 1)
	p := t.second(topic, "producer")
	for _, stranger := range strangers(p) {
		t.AskEach(stranger.name, 0, 3, ended(stranger.producer, true))
	}
	t.AskEach("a commit before anything has begun", 0, 3, ended(p, true))
	t.AskEach("an abort before anything has begun", 0, 3, ended(p, false))
	sequence := int32(0)
	for version := range int16(4) {
		for _, commit := range []bool{true, false} {
			outcome, other := "commit", "abort"
			if !commit {
				outcome, other = other, outcome
			}
			t.Begun(p, topic, 0, sequence, outcome)
			sequence++
			t.Ask(outcome, version, ended(p, commit))
			t.Completed(topic)
			t.Ask(outcome+" again", version, ended(p, commit))
			t.Ask(outcome+", then "+other, version, ended(p, !commit))
		}
	}
	t.Begun(p, topic, 0, sequence, "last")
	for _, stranger := range strangers(p) {
		t.Ask(stranger.name+" while a transaction is open", 3, ended(stranger.producer, true))
	}
	t.Ask("the transaction that is open still", 0, describeTransactions(topic))
	t.Ended(p, true)
	t.Ask("all records", 11, fetchFrom(topic, 0))
	t.Ask("the committed records", 11, committedFrom(topic, [16]byte{}, 0, 0))
}
