// Package topicconfig holds Kafka 3.7's 31 topic keys: what they are called, which values they take, what holds when a
// topic does not set them, and what they mean for the log engine.
//
// A topic's own configuration is a map of texts, as it stands in its manifest and in its directory. [Validate] says
// whether such a map may be stored, [Resolve] turns it into numbers, [Describe] answers DescribeConfigs, and [Apply] is
// IncrementalAlterConfigs without the wire. All functions are pure and safe for concurrent use.
//
// Keys about replication and tiered storage are stored and shown and have no effect.
package topicconfig
