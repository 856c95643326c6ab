package transcripts

// Script is one conversation.
type Script struct {
	// Name is that of its recording, and the beginning of its topics' names.
	Name string
	// Kafka is the version of Apache Kafka that is the judge.
	Kafka string
	Run   func(t *Talk)
}

// The versions of Apache Kafka to compare with: the one that kaas follows, and the one for what came later.
const (
	kafka37 = "3.7.2"
	kafka43 = "4.3.1"
)

// scripts lists all conversations.
func scripts() []Script {
	return []Script{
		{"api-versions", kafka37, apiVersionsScript},
		{"metadata", kafka37, metadataScript},
		{"describe-cluster", kafka37, describeClusterScript},
		{"create-topics", kafka37, createTopicsScript},
		{"delete-topics", kafka37, deleteTopicsScript},
		{"create-partitions", kafka37, createPartitionsScript},
		{"delete-records", kafka37, deleteRecordsScript},
		{"produce", kafka37, produceScript},
		{"produce-idempotent", kafka37, produceIdempotentScript},
		{"fetch", kafka37, fetchScript},
		{"fetch-sessions", kafka37, fetchSessionsScript},
		{"list-offsets", kafka37, listOffsetsScript},
		{"offset-for-leader-epoch", kafka37, offsetForLeaderEpochScript},
		{"init-producer-id", kafka37, initProducerIDScript},
		{"describe-configs", kafka37, describeConfigsScript},
		{"incremental-alter-configs", kafka37, incrementalAlterConfigsScript},
		{"frames", kafka37, framesScript},
		{"describe-topic-partitions", kafka43, describeTopicPartitionsScript},
		{"describe-cluster-v2", kafka43, describeClusterV2Script},
	}
}
