package transcripts

func describeTransactionsScript(t *Talk) {
	const topic = "describe-transactions"
	t.Topic(topic, 2)
	p := t.transactional(topic, "producer")
	t.Ask("a producer without a transaction", 0, describeTransactions(topic))
	t.Begun(p, topic, 1, 0, "a")
	t.Begun(p, topic, 0, 0, "b")
	t.Ask("a transaction", 0, describeTransactions(topic))
	t.Ended(p, true)
	t.Ask("a transaction that was committed", 0, describeTransactions(topic))
	t.Begun(p, topic, 1, 1, "c")
	t.Ended(p, false)
	t.Ask("a transaction that was aborted", 0, describeTransactions(topic))
	t.Ask("an unknown id", 0, describeTransactions(topic+"-unknown"))
	for _, id := range groupIDs {
		t.Ask(id.name, 0, describeTransactions(id.id))
	}
	t.Ask("several, one twice", 0, describeTransactions(topic, topic+"-unknown", topic))
	t.Ask("no id", 0, describeTransactions())
}
