package config

import "github.com/kaas-rs/kaas/kaas-broker/config/configdef"

// zookeeperKeys are the keys about ZooKeeper.
var zookeeperKeys = []Key{
	ignored("zookeeper.clientCnxnSocket", configdef.TypeString, null, static),
	ignored("zookeeper.connect", configdef.TypeString, null, static),
	ignored("zookeeper.connection.timeout.ms", configdef.TypeInt, null, static),
	ignored("zookeeper.max.in.flight.requests", configdef.TypeInt, "10", static),
	ignored("zookeeper.metadata.migration.enable", configdef.TypeBoolean, "false", static),
	ignored("zookeeper.session.timeout.ms", configdef.TypeInt, "18000", static),
	ignored("zookeeper.set.acl", configdef.TypeBoolean, "false", static),
	ignored("zookeeper.ssl.cipher.suites", configdef.TypeList, null, static),
	ignored("zookeeper.ssl.client.enable", configdef.TypeBoolean, "false", static),
	ignored("zookeeper.ssl.crl.enable", configdef.TypeBoolean, "false", static),
	ignored("zookeeper.ssl.enabled.protocols", configdef.TypeList, null, static),
	ignored("zookeeper.ssl.endpoint.identification.algorithm", configdef.TypeString, "HTTPS", static),
	ignored("zookeeper.ssl.keystore.location", configdef.TypeString, null, static),
	ignored("zookeeper.ssl.keystore.password", configdef.TypePassword, null, static),
	ignored("zookeeper.ssl.keystore.type", configdef.TypeString, null, static),
	ignored("zookeeper.ssl.ocsp.enable", configdef.TypeBoolean, "false", static),
	ignored("zookeeper.ssl.protocol", configdef.TypeString, "TLSv1.2", static),
	ignored("zookeeper.ssl.truststore.location", configdef.TypeString, null, static),
	ignored("zookeeper.ssl.truststore.password", configdef.TypePassword, null, static),
	ignored("zookeeper.ssl.truststore.type", configdef.TypeString, null, static),
}
