package topicconfig

import (
	"time"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage"
)

// Storage returns what the log engine needs to know of the topic.
func (e Effective) Storage() storage.Config {
	return storage.Config{
		SegmentBytes:   e.SegmentBytes,
		SegmentAge:     e.segmentAge(),
		IndexInterval:  e.IndexIntervalBytes,
		RetentionAge:   e.RetentionAge,
		RetentionBytes: e.RetentionBytes,
		Delete:         e.Delete,
		Compact:        e.Compact,
		FlushMessages:  e.FlushMessages,
		FlushInterval:  e.FlushInterval,
		AppendTime:     e.AppendTime,
		ProducerExpiry: e.ProducerExpiry,

		MinCleanableDirtyRatio: e.MinCleanableRatio,
		MinCompactionLag:       e.MinCompactionLag,
		MaxCompactionLag:       e.MaxCompactionLag,
		DeleteRetention:        e.DeleteRetention,

		VerifyTransactions: e.VerifyTransactions,
	}
}

// segmentAge closes a segment early enough for compaction to reach its records in max.compaction.lag.ms (KIP-354): only closed segments are compacted.
func (e Effective) segmentAge() time.Duration {
	if e.Compact {
		return min(e.SegmentAge, e.MaxCompactionLag)
	}
	return e.SegmentAge
}

// Rules returns what the check of produced batches needs to know: version is the Produce request's, now the broker's
// clock. The bound on decompressed bytes is left at its default.
func (e Effective) Rules(version int16, now time.Time) batch.Rules {
	return batch.Rules{
		Version:     version,
		MaxBytes:    e.MaxMessageBytes,
		Compacted:   e.Compact,
		AppendTime:  e.AppendTime,
		Compression: e.Compression,
		Now:         now.UnixMilli(),
		MaxBefore:   e.TimestampBeforeMaxMs,
		MaxAfter:    e.TimestampAfterMaxMs,
	}
}
