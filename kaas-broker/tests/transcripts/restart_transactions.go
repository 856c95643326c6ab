package transcripts

// restartTransactionsScript asks about the transactions that there were before the broker was restarted.
func restartTransactionsScript(t *Talk) {
	const topic, group = "restart-transactions", "restart-transactions"
	id := t.Topic(topic, 2)
	t.Coordinated(group)
	aborted, committed, open := t.transactional("aborted", "aborted"), t.transactional("committed", "committed"), t.transactional("open", "open")
	t.Begun(aborted, topic, 0, 0, "a")
	t.Begun(committed, topic, 0, 0, "b")
	t.Ended(aborted, false)
	t.Ended(committed, true)
	t.Begun(open, topic, 0, 0, "c")
	t.Staged(open, group, topic, 0, 7)
	t.Restart()
	t.transactional("other", "other")
	t.Coordinated(group)
	t.Learn(topic)
	t.Ask("transactions", 0, describeTransactions("aborted", "committed", "open"))
	t.Ask("producers", 0, describeProducers(topic, 0))
	t.Ask("committed records", 12, committedFrom(topic, id, 0, 0))
	stable := fetching(group, topic, 0)
	stable.RequireStable = true
	t.Ask("what is stable", 8, stable)
	t.Ask("the open transaction goes on", 9, produceIn(open, topic, 0, open.part(1, "d")))
	t.Ask("one more partition", 3, adding(open, topic, 1))
	t.Ask("records there", 9, produceIn(open, topic, 1, open.part(0, "e")))
	t.Ask("its commit", 3, ended(open, true))
	t.Completed("open")
	t.Ask("its commit again", 3, ended(open, true))
	t.Ask("committed records when it is committed", 12, committedFrom(topic, id, 0, 0), "-Topics[*].Partitions[0].Records[*]")
	t.Ask("what is stable when it is committed", 8, stable)
	t.Ask("a producer returns", 4, returning(committed))
	t.Ask("an aborted one's next transaction", 3, adding(aborted, topic, 0))
	t.Ask("an aborted one's next records", 9, produceIn(aborted, topic, 0, aborted.part(1, "f")))
	t.Ended(aborted, true)
}
