package topicconfig

import (
	"slices"

	"github.com/kaas-rs/kaas/kaas-broker/config/configdef"
)

// Key is one topic key.
type Key struct {
	configdef.Definition
	// Broker is the broker key that sets the default for all topics, empty when there is none.
	Broker string
}

// key is a row of the table; check may be nil.
func key(name string, t configdef.Type, fallback, broker string, check configdef.Check, doc string) Key {
	return Key{
		Definition: configdef.Definition{Name: name, Type: t, Default: fallback, Check: check, Doc: doc},
		Broker:     broker,
	}
}

const forever = "9223372036854775807"

var keys = []Key{
	key("cleanup.policy", configdef.TypeList, "delete", "log.cleanup.policy", configdef.EachOf("compact", "delete"),
		"What becomes of old segments: delete drops them by age and size, compact keeps the last record of each key. Both may be named."),
	key("compression.type", configdef.TypeString, "producer", "compression.type",
		configdef.OneOf("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"),
		"Codec in which the topic's records are stored. With producer they stay as they were sent."),
	key("delete.retention.ms", configdef.TypeLong, "86400000", "log.cleaner.delete.retention.ms", configdef.AtLeast(0),
		"How long a deletion marker of a compacted topic stays readable, so that a slow consumer still learns of the deletion."),
	key("file.delete.delay.ms", configdef.TypeLong, "60000", "log.segment.delete.delay.ms", configdef.AtLeast(0),
		"Kafka's pause before an expired file is removed. Stored without effect: kaas removes a file when its last reader is done."),
	key("flush.messages", configdef.TypeLong, "1", "log.flush.interval.messages", configdef.AtLeast(1),
		"Records that may wait for a sync to disk. With 1, the default in kaas, acks=all is answered only after the sync; more trades that promise for speed."),
	key("flush.ms", configdef.TypeLong, forever, "log.flush.interval.ms", configdef.AtLeast(0),
		"Longest time that written records wait for a sync. It counts when flush.messages is above 1, and kaas never waits longer than a second."),
	key("follower.replication.throttled.replicas", configdef.TypeList, "", "", throttledReplicas,
		"Replicas whose copying Kafka slows down on the receiving side. Stored without effect: there are no replicas to copy."),
	key("index.interval.bytes", configdef.TypeInt, "4096", "log.index.interval.bytes", configdef.AtLeast(0),
		"Bytes of log between two entries of the offset index. Fewer find an offset with less reading and need a larger index."),
	key("leader.replication.throttled.replicas", configdef.TypeList, "", "", throttledReplicas,
		"Replicas whose copying Kafka slows down on the sending side. Stored without effect: there are no replicas to copy."),
	key("local.retention.bytes", configdef.TypeLong, "-2", "log.local.retention.bytes", configdef.AtLeast(-2),
		"Bytes of a partition that tiered storage keeps near. Stored without effect."),
	key("local.retention.ms", configdef.TypeLong, "-2", "log.local.retention.ms", configdef.AtLeast(-2),
		"Time that tiered storage keeps a record near. Stored without effect."),
	key("max.compaction.lag.ms", configdef.TypeLong, forever, "log.cleaner.max.compaction.lag.ms", configdef.AtLeast(1),
		"Age after which a record of a compacted topic has to be considered by compaction."),
	key("max.message.bytes", configdef.TypeInt, "1048588", "message.max.bytes", configdef.AtLeast(0),
		"Largest record batch that a producer may send, as it travels, compression included."),
	key("message.downconversion.enable", configdef.TypeBoolean, "true", "log.message.downconversion.enable", nil,
		"Whether consumers that only know old record formats get their records converted. If not, they get an error."),
	key("message.format.version", configdef.TypeString, "3.0-IV1", "log.message.format.version", formatVersion,
		"Left over from when records had several formats. Stored without effect: kaas stores format 2."),
	key("message.timestamp.after.max.ms", configdef.TypeLong, forever, "log.message.timestamp.after.max.ms", configdef.AtLeast(0),
		"How far a producer's timestamp may lie ahead of the broker's clock; a record beyond it is refused."),
	key("message.timestamp.before.max.ms", configdef.TypeLong, forever, "log.message.timestamp.before.max.ms", configdef.AtLeast(0),
		"How far a producer's timestamp may lie behind the broker's clock; a record beyond it is refused."),
	key("message.timestamp.difference.max.ms", configdef.TypeLong, forever, "log.message.timestamp.difference.max.ms", configdef.AtLeast(0),
		"Older form of the limits before and after; it counts where one of those is at its default."),
	key("message.timestamp.type", configdef.TypeString, "CreateTime", "log.message.timestamp.type",
		configdef.OneOf("CreateTime", "LogAppendTime"),
		"Whose clock dates a record: the producer's (CreateTime) or the broker's at arrival (LogAppendTime)."),
	key("min.cleanable.dirty.ratio", configdef.TypeDouble, "0.5", "log.cleaner.min.cleanable.ratio", configdef.Ratio,
		"Share of a compacted log that must be new before it is compacted again. Lower saves space and costs work."),
	key("min.compaction.lag.ms", configdef.TypeLong, "0", "log.cleaner.min.compaction.lag.ms", configdef.AtLeast(0),
		"Age that a record of a compacted topic must have before compaction may remove it."),
	key("min.insync.replicas", configdef.TypeInt, "1", "min.insync.replicas", configdef.AtLeast(1),
		"Copies that Kafka demands before it acknowledges. Stored without effect: one copy on the volume is what there is."),
	key("preallocate", configdef.TypeBoolean, "false", "log.preallocate", nil,
		"Whether Kafka reserves a segment's space when it creates the file. Stored without effect."),
	key("remote.storage.enable", configdef.TypeBoolean, "false", "", notTiered,
		"Tiered storage of the topic. Only false is accepted."),
	key("retention.bytes", configdef.TypeLong, "-1", "log.retention.bytes", nil,
		"Size of a partition above which its oldest segments are dropped. A negative number sets no limit."),
	key("retention.ms", configdef.TypeLong, "604800000", "log.retention.ms", configdef.AtLeast(-1),
		"How long records are kept. -1 keeps them for ever."),
	key("segment.bytes", configdef.TypeInt, "1073741824", "log.segment.bytes", configdef.AtLeast(14),
		"Size at which a segment is closed and the next one begins. Retention and compaction work on closed segments."),
	key("segment.index.bytes", configdef.TypeInt, "10485760", "log.index.size.max.bytes", configdef.AtLeast(4),
		"Kafka's bound on the size of an index file. Stored without effect: indexes grow with their segments."),
	key("segment.jitter.ms", configdef.TypeLong, "0", "log.roll.jitter.ms", configdef.AtLeast(0),
		"Kafka's random share of segment.ms that spreads the closing of segments. Stored without effect."),
	key("segment.ms", configdef.TypeLong, "604800000", "log.roll.ms", configdef.AtLeast(1),
		"Age at which a segment is closed even if it is small, so that retention and compaction can reach its records."),
	key("unclean.leader.election.enable", configdef.TypeBoolean, "false", "unclean.leader.election.enable", nil,
		"Whether Kafka may choose a leader that lacks records. Stored without effect: that never happens here."),
}

// Keys returns the topic keys in alphabetical order, a fresh copy.
func Keys() []Key { return slices.Clone(keys) }

// Lookup returns the key of that name. The error is a *configdef.UnknownKeyError that names the nearest key.
func Lookup(name string) (Key, error) {
	for _, key := range keys {
		if key.Name == name {
			return key, nil
		}
	}
	names := make([]string, len(keys))
	for i, key := range keys {
		names[i] = key.Name
	}
	return Key{}, &configdef.UnknownKeyError{Kind: "topic", Name: name, Nearest: configdef.Nearest(name, names)}
}
