package config

import "github.com/kaas-rs/kaas/kaas-broker/config/configdef"

// Names of the keys that Kafka does not have.
const (
	keyDataDir         = "kaas.data.dir"
	keyClusterDir      = "kaas.cluster.dir"
	keyHealthAddr      = "kaas.health.addr"
	keyDebugProfiles   = "kaas.debug.pprof"
	keyLogLevel        = "kaas.log.level"
	keyLogFormat       = "kaas.log.format"
	keyFsyncDeadline   = "kaas.fsync.max.latency.ms"
	keyReserveBytes    = "kaas.storage.reserve.bytes"
	keyMemoryBytes     = "kaas.memory.max.bytes"
	keyCertificateFile = "kaas.ssl.certificate.file"
	keyPrivateKeyFile  = "kaas.ssl.key.file"
	keyClientCAFile    = "kaas.ssl.client.ca.file"
)

// ownKeys are the keys that Kafka does not have. DescribeConfigs leaves them out.
var ownKeys = []Key{
	served(keyDataDir, configdef.TypeString, null, static, nil,
		"Directory that holds the topics. Without it everything stays in memory."),
	served(keyClusterDir, configdef.TypeString, null, static, nil,
		"Directory for what belongs to no topic; __cluster in the data directory unless set. It may be its own volume."),
	served(keyHealthAddr, configdef.TypeString, "127.0.0.1:8080", static, nil,
		"Address of /healthz and /readyz as HOST:PORT or PORT; off turns them off."),
	served(keyDebugProfiles, configdef.TypeBoolean, "false", static, nil,
		"Serves profiles of CPU and memory under /debug/pprof/ of the health address, for go tool pprof."),
	served(keyLogLevel, configdef.TypeString, "info", static, configdef.OneOf("trace", "debug", "info", "warn", "error"),
		"Least important messages that are logged."),
	served(keyLogFormat, configdef.TypeString, "auto", static, configdef.OneOf("auto", "text", "json"),
		"Form of log lines; auto writes text to a terminal and JSON elsewhere."),
	served(keyFsyncDeadline, configdef.TypeLong, "30000", static, configdef.AtLeast(0),
		"Time after which a file operation counts as failed and its partition is taken over anew; 0 waits for ever."),
	served(keyReserveBytes, configdef.TypeLong, "16777216", static, configdef.AtLeast(0),
		"Size of the file that is given up when a volume is full, so that a restart still finds room to work."),
	served(keyMemoryBytes, configdef.TypeLong, "0", static, configdef.AtLeast(0),
		"Memory for records when there is no data directory; 0 takes a quarter of the machine's, at most 1 GiB."),
	served(keyCertificateFile, configdef.TypeString, null, static, nil,
		"PEM file with the certificate chain of TLS listeners, when it is not in ssl.keystore.location."),
	served(keyPrivateKeyFile, configdef.TypeString, null, static, nil,
		"PEM file with the private key of TLS listeners, when it is not in ssl.keystore.location."),
	served(keyClientCAFile, configdef.TypeString, null, static, nil,
		"PEM file with the authorities that sign client certificates, when it is not ssl.truststore.location."),
}

// foreignKeys are names that Kafka's own parts read from the same file although they are no documented broker keys of 3.7, or that
// a later Kafka knows. They are ignored with a warning.
var foreignKeys = []string{
	"super.users", "allow.everyone.if.no.acl.found", "config.providers", "compression.gzip.level", "compression.lz4.level",
	"compression.zstd.level", "cordoned.log.dirs", "follower.fetch.last.tiered.offset.enable", "log.dir.failure.timeout.ms",
	"max.request.partition.size.limit", "add.partitions.to.txn.retry.backoff.max.ms",
	"add.partitions.to.txn.retry.backoff.ms", "transaction.two.phase.commit.enable",
	"group.consumer.migration.policy", "log.initial.task.delay.ms", "producer.id.expiration.check.interval.ms", "server.max.startup.time.ms",
	"unclean.leader.election.interval.ms", "unstable.api.versions.enable", "unstable.feature.versions.enable", "unstable.metadata.versions.enable",
	"internal.metadata.log.segment.bytes", "internal.metadata.max.batch.size.in.bytes", "internal.metadata.delete.delay.millis",
	"share.fetch.purgatory.purge.interval.requests", "port", "host.name", "advertised.host.name", "advertised.port",
}

// foreignPrefixes begin names that are ignored with a warning whatever follows.
var foreignPrefixes = []string{
	"zookeeper.", "controller.", "metadata.", "share.coordinator.", "group.share.", "group.streams.", "group.consumer.",
	"group.coordinator.", "remote.", "rsm.config.", "rlmm.config.", "sasl.oauthbearer.", "config.providers.", "confluent.",
}
