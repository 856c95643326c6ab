package config

import "github.com/kaas-rs/kaas/kaas-broker/config/configdef"

// brokerKeys are the keys about the broker itself and its topics.
var brokerKeys = []Key{
	ignored("alter.config.policy.class.name", configdef.TypeClass, null, static),
	served("auto.create.topics.enable", configdef.TypeBoolean, "true", static, nil,
		"Whether a topic that a client asks for is created when it does not exist."),
	ignored("auto.include.jmx.reporter", configdef.TypeBoolean, "true", static),
	ignored("background.threads", configdef.TypeInt, "10", dynamic),
	served("broker.id", configdef.TypeInt, "0", static, configdef.AtLeast(-1),
		"Number of this broker; 0 unless set."),
	served("broker.rack", configdef.TypeString, null, static, nil,
		"Location of this broker, told to clients that prefer near brokers."),
	ignored("client.quota.callback.class", configdef.TypeClass, null, static),
	ignored("create.topic.policy.class.name", configdef.TypeClass, null, static),
	ignored("delete.records.purgatory.purge.interval.requests", configdef.TypeInt, "1", static),
	served("delete.topic.enable", configdef.TypeBoolean, "true", static, nil,
		"Whether topics can be deleted."),
	served("fetch.max.bytes", configdef.TypeInt, "57671680", static, configdef.AtLeast(1024),
		"Most record bytes in one answer to a consumer, whatever it asks for."),
	ignored("kafka.metrics.polling.interval.secs", configdef.TypeInt, "10", static),
	ignored("kafka.metrics.reporters", configdef.TypeList, "", static),
	served("max.incremental.fetch.session.cache.slots", configdef.TypeInt, "1000", static, configdef.AtLeast(0),
		"Incremental fetch sessions that are remembered."),
	ignored("metric.reporters", configdef.TypeList, "", dynamic),
	ignored("metrics.num.samples", configdef.TypeInt, "2", static),
	ignored("metrics.recording.level", configdef.TypeString, "INFO", static),
	ignored("metrics.sample.window.ms", configdef.TypeLong, "30000", static),
	served("node.id", configdef.TypeInt, "0", static, configdef.AtLeast(-1),
		"Another name of broker.id."),
	served("num.partitions", configdef.TypeInt, "1", static, configdef.AtLeast(1),
		"Partitions of a topic whose creator names no number."),
	ignored("num.recovery.threads.per.data.dir", configdef.TypeInt, "1", dynamic),
	ignored("producer.purgatory.purge.interval.requests", configdef.TypeInt, "1000", static),
	ignored("quota.window.num", configdef.TypeInt, "11", static),
	ignored("quota.window.size.seconds", configdef.TypeInt, "1", static),
}
