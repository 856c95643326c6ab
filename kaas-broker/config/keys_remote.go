package config

import "github.com/kaas-rs/kaas/kaas-broker/config/configdef"

// remoteKeys are the keys about tiered storage.
var remoteKeys = []Key{
	ignored("remote.log.index.file.cache.total.size.bytes", configdef.TypeLong, "1073741824", dynamic),
	ignored("remote.log.manager.task.interval.ms", configdef.TypeLong, "30000", static),
	ignored("remote.log.manager.thread.pool.size", configdef.TypeInt, "10", static),
	ignored("remote.log.metadata.custom.metadata.max.bytes", configdef.TypeInt, "128", static),
	ignored("remote.log.metadata.manager.class.name", configdef.TypeString, "org.apache.kafka.server.log.remote.metadata.storage.TopicBasedRemoteLogMetadataManager", static),
	ignored("remote.log.metadata.manager.class.path", configdef.TypeString, null, static),
	ignored("remote.log.metadata.manager.impl.prefix", configdef.TypeString, "rlmm.config.", static),
	ignored("remote.log.metadata.manager.listener.name", configdef.TypeString, null, static),
	ignored("remote.log.reader.max.pending.tasks", configdef.TypeInt, "100", static),
	ignored("remote.log.reader.threads", configdef.TypeInt, "10", static),
	ignored("remote.log.storage.manager.class.name", configdef.TypeString, null, static),
	ignored("remote.log.storage.manager.class.path", configdef.TypeString, null, static),
	ignored("remote.log.storage.manager.impl.prefix", configdef.TypeString, "rsm.config.", static),
	ignored("remote.log.storage.system.enable", configdef.TypeBoolean, "false", static),
}
