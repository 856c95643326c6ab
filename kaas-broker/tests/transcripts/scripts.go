package transcripts

// Script is one conversation.
type Script struct {
	// Name is that of its recording, and the beginning of its topics' names.
	Name string
	// Kafka is the version of Apache Kafka that is the judge.
	Kafka string
	Run   func(t *Talk)
	// Settings are those of a broker that the script has for itself; nil means one that it shares with other scripts.
	Settings map[string]string
	// Restarts says that the script restarts its broker, which must have a data directory then.
	Restarts bool
	// Many says that the script sends so many requests that a kaas which syncs each is not asked.
	Many bool
}

// The versions of Apache Kafka to compare with: the one that kaas follows, and the one for what came later.
const (
	kafka37 = "3.7.2"
	kafka43 = "4.3.1"
)

// scripts lists all conversations.
func scripts() []Script {
	return []Script{
		{Name: "api-versions", Kafka: kafka37, Run: apiVersionsScript},
		{Name: "metadata", Kafka: kafka37, Run: metadataScript},
		{Name: "describe-cluster", Kafka: kafka37, Run: describeClusterScript},
		{Name: "create-topics", Kafka: kafka37, Run: createTopicsScript},
		{Name: "delete-topics", Kafka: kafka37, Run: deleteTopicsScript},
		{Name: "create-partitions", Kafka: kafka37, Run: createPartitionsScript},
		{Name: "delete-records", Kafka: kafka37, Run: deleteRecordsScript},
		{Name: "produce", Kafka: kafka37, Run: produceScript},
		{Name: "produce-idempotent", Kafka: kafka37, Run: produceIdempotentScript},
		{Name: "fetch", Kafka: kafka37, Run: fetchScript},
		{Name: "fetch-sessions", Kafka: kafka37, Run: fetchSessionsScript},
		{Name: "list-offsets", Kafka: kafka37, Run: listOffsetsScript},
		{Name: "offset-for-leader-epoch", Kafka: kafka37, Run: offsetForLeaderEpochScript},
		{Name: "init-producer-id", Kafka: kafka37, Run: initProducerIDScript},
		{Name: "describe-configs", Kafka: kafka37, Run: describeConfigsScript},
		{Name: "incremental-alter-configs", Kafka: kafka37, Run: incrementalAlterConfigsScript},
		{Name: "frames", Kafka: kafka37, Run: framesScript},
		{Name: "find-coordinator", Kafka: kafka37, Run: findCoordinatorScript},
		{Name: "join-group", Kafka: kafka37, Run: joinGroupScript, Settings: shortSessions()},
		{Name: "sync-group", Kafka: kafka37, Run: syncGroupScript},
		{Name: "heartbeat", Kafka: kafka37, Run: heartbeatScript},
		{Name: "leave-group", Kafka: kafka37, Run: leaveGroupScript},
		{Name: "static-members", Kafka: kafka37, Run: staticMembersScript},
		{Name: "offset-commit", Kafka: kafka37, Run: offsetCommitScript},
		{Name: "offset-without-metadata", Kafka: kafka37, Run: offsetWithoutMetadataScript, Settings: map[string]string{"offset.metadata.max.bytes": "0"}},
		{Name: "offset-fetch", Kafka: kafka37, Run: offsetFetchScript},
		{Name: "describe-groups", Kafka: kafka37, Run: describeGroupsScript},
		{Name: "list-groups", Kafka: kafka37, Run: listGroupsScript, Settings: map[string]string{}},
		{Name: "delete-groups", Kafka: kafka37, Run: deleteGroupsScript},
		{Name: "offset-delete", Kafka: kafka37, Run: offsetDeleteScript},
		{Name: "init-transactional", Kafka: kafka37, Run: initTransactionalScript},
		{Name: "epoch-exhaustion", Kafka: kafka37, Run: epochExhaustionScript, Settings: map[string]string{"log.flush.interval.messages": "1000000"}, Many: true},
		{Name: "add-partitions-to-txn", Kafka: kafka37, Run: addPartitionsToTxnScript},
		{Name: "add-offsets-to-txn", Kafka: kafka37, Run: addOffsetsToTxnScript},
		{Name: "end-txn", Kafka: kafka37, Run: endTxnScript},
		{Name: "txn-offset-commit", Kafka: kafka37, Run: txnOffsetCommitScript},
		{Name: "write-txn-markers", Kafka: kafka37, Run: writeTxnMarkersScript},
		{Name: "describe-producers", Kafka: kafka37, Run: describeProducersScript},
		{Name: "describe-transactions", Kafka: kafka37, Run: describeTransactionsScript},
		{Name: "list-transactions", Kafka: kafka37, Run: listTransactionsScript, Settings: map[string]string{}},
		{Name: "produce-transactional", Kafka: kafka37, Run: produceTransactionalScript},
		{Name: "fetch-committed", Kafka: kafka37, Run: fetchCommittedScript},
		{Name: "transaction-timeouts", Kafka: kafka37, Run: transactionTimeoutsScript, Settings: shortTransactions()},
		{Name: "restart-transactions", Kafka: kafka37, Run: restartTransactionsScript, Settings: map[string]string{}, Restarts: true},
		{Name: "restart-groups", Kafka: kafka37, Run: restartGroupsScript, Settings: map[string]string{}, Restarts: true},
		{Name: "restart", Kafka: kafka37, Run: restartScript, Settings: map[string]string{}, Restarts: true},
		{Name: "restricted", Kafka: kafka37, Run: restrictedScript, Settings: restrictedSettings()},
		{Name: "describe-topic-partitions", Kafka: kafka43, Run: describeTopicPartitionsScript},
		{Name: "describe-cluster-v2", Kafka: kafka43, Run: describeClusterV2Script},
	}
}
