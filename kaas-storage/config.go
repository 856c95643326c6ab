package storage

import "time"

// Config is what an operator may change about one partition while it is open. The zero value is of no use: start from DefaultConfig.
// Names in brackets are Kafka's topic configurations.
type Config struct {
	SegmentBytes   int64         // roll when the next batch would pass this size [segment.bytes]; 14 bytes to 2 GiB - 1
	SegmentAge     time.Duration // roll when the segment's first append is older [segment.ms]
	IndexInterval  int           // bytes of log between index entries [index.interval.bytes]
	RetentionAge   time.Duration // drop closed segments whose newest record is older; negative = keep [retention.ms]
	RetentionBytes int64         // drop closed segments while the log is larger; negative = keep [retention.bytes]
	Delete         bool          // retention and DeleteRecords may remove records [cleanup.policy has delete]
	Compact        bool          // the log is compacted [cleanup.policy has compact]
	FlushMessages  int64         // records between syncs [flush.messages]; 1 = every commit is durable before it is acknowledged
	FlushInterval  time.Duration // longest time between syncs when FlushMessages > 1 [flush.ms]; never more than a second
	AppendTime     bool          // the broker's clock stamps batches [message.timestamp.type=LogAppendTime]
	ProducerExpiry time.Duration // how long the state of an idle producer without an open transaction is kept [producer.id.expiration.ms]

	MinCleanableDirtyRatio float64       // share of bytes that no compaction has seen from which one is worth it [min.cleanable.dirty.ratio]
	MinCompactionLag       time.Duration // segments with a newer record are not compacted; 0 or negative = none [min.compaction.lag.ms]
	MaxCompactionLag       time.Duration // a record is compacted at the latest then; 0 or negative = whenever it is worth it [max.compaction.lag.ms]
	DeleteRetention        time.Duration // how long what deletes a key stays readable [delete.retention.ms]

	// VerifyTransactions demands a Verification with the first batch of a transaction [broker: transaction.partition.verification.enable].
	VerifyTransactions bool
}

// DefaultConfig returns Kafka 3.7's defaults, except that FlushMessages is 1: an acknowledged record is on disk.
func DefaultConfig() Config {
	return Config{
		SegmentBytes:   1 << 30,
		SegmentAge:     7 * 24 * time.Hour,
		IndexInterval:  4096,
		RetentionAge:   7 * 24 * time.Hour,
		RetentionBytes: -1,
		Delete:         true,
		FlushMessages:  1,
		FlushInterval:  time.Second,
		ProducerExpiry: 24 * time.Hour,

		MinCleanableDirtyRatio: 0.5,
		DeleteRetention:        24 * time.Hour,

		VerifyTransactions: true,
	}
}

// maxUnsynced bounds what a page-cache topic (FlushMessages > 1) can lose at a crash, together with maxSyncDelay.
const (
	maxUnsynced  = 64 << 20
	maxSyncDelay = time.Second
	// maxUnsyncedSegments bounds the files that wait for their sync: each is open until then.
	maxUnsyncedSegments = 100
)

// syncDelay is the longest time that written bytes may wait for a sync.
func (c Config) syncDelay() time.Duration {
	if c.FlushInterval > 0 && c.FlushInterval < maxSyncDelay {
		return c.FlushInterval
	}
	return maxSyncDelay
}
