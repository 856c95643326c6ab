package transcripts

func addPartitionsToTxnScript(t *Talk) {
	const topic = "add-partitions-to-txn"
	t.Topic(topic, 3)
	p := t.second(topic, "producer")
	for _, stranger := range strangers(p) {
		t.AskEach(stranger.name, 0, 4, adding(stranger.producer, topic, 0))
		t.Ask(stranger.name+", to be verified", 4, verifying(stranger.producer, 0))
	}
	t.Ask("a partition to be verified before the transaction", 4, verifying(p, 0))
	t.AskEach("a partition", 0, 4, adding(p, topic, 0))
	t.Ask("a partition to be verified", 4, verifying(p, 0))
	t.Ask("a partition and another to be verified", 4, verifying(p, 0, 1))
	t.Ask("the transaction", 0, describeTransactions(topic))
	t.AskEach("an unknown topic", 0, 4, adding(p, "add-partitions-to-txn-unknown", 0))
	t.AskEach("an unknown partition beside a known", 0, 4, adding(p, topic, 1, 9))
	t.Ask("an unknown partition to be verified", 4, verifying(p, 1, 9))
	t.Ask("a negative partition", 3, adding(p, topic, -1))
	for _, what := range invalidOrder {
		t.Ask("an invalid name, "+what, 3, adding(p, invalidNames[what], 0))
	}
	t.Ask("offsets of consumers", 3, adding(p, "__consumer_offsets", 0))
	t.Ask("no partition", 3, adding(p, topic))
	none := adding(p, topic)
	none.Topics, none.Transactions[0].Topics = nil, nil
	t.AskEach("no topic", 3, 4, none)
	t.Ask("the transaction when all was refused", 0, describeTransactions(topic))
	addPartitionsSeveral(t, topic)
	t.Ended(p, true)
	t.Ask("a partition to be verified after the transaction", 4, verifying(p, 0))
	t.Ask("no topic begins a transaction", 3, none)
	t.Ask("a transaction without partitions", 0, describeTransactions(topic))
	t.Ask("the end of a transaction without partitions", 3, ended(p, true))
}

// addPartitionsSeveral names several transactions at once.
func addPartitionsSeveral(t *Talk, topic string) {
	one, two := t.transactional(topic+"-one", "one"), t.transactional(topic+"-two", "two")
	several := adding(one, topic, 0, 1)
	several.Transactions = append(several.Transactions, adding(two, topic, 1).Transactions[0], adding(two.named(topic+"-nobody"), topic, 1).Transactions[0],
		adding(two.named(topic+"-other"), topic, 8).Transactions[0])
	t.Ask("several transactions", 4, several)
	t.Ask("what was added to several transactions", 0, describeTransactions(one.transactional, two.transactional))
	t.Ended(one, true)
	t.Ended(two, false)
}
