package config

import "github.com/kaas-rs/kaas/kaas-broker/config/configdef"

// networkKeys are the keys about connections.
var networkKeys = []Key{
	served("advertised.listeners", configdef.TypeString, null, dynamic, nil,
		"Addresses that clients are told to connect to, where these differ from listeners."),
	served("connections.max.idle.ms", configdef.TypeLong, "600000", static, nil,
		"Time without a request after which a connection is closed; a negative number never closes it."),
	ignored("control.plane.listener.name", configdef.TypeString, null, static),
	served("listener.security.protocol.map", configdef.TypeString, "PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL", dynamic, nil,
		"Security protocol of each listener name, as NAME:PROTOCOL separated by commas."),
	served("listeners", configdef.TypeString, "PLAINTEXT://127.0.0.1:9092", dynamic, nil,
		"Addresses to accept clients on, as NAME://HOST:PORT separated by commas."),
	served("max.connection.creation.rate", configdef.TypeInt, "2147483647", dynamic, configdef.AtLeast(0),
		"New connections per second over all listeners."),
	served("max.connections", configdef.TypeInt, "2147483647", dynamic, configdef.AtLeast(0),
		"Connections over all listeners."),
	served("max.connections.per.ip", configdef.TypeInt, "2147483647", dynamic, configdef.AtLeast(0),
		"Connections from one address."),
	served("max.connections.per.ip.overrides", configdef.TypeString, "", dynamic, nil,
		"Exceptions to max.connections.per.ip, as HOST:COUNT separated by commas."),
	ignored("num.io.threads", configdef.TypeInt, "8", dynamic),
	ignored("num.network.threads", configdef.TypeInt, "3", dynamic),
	served("queued.max.request.bytes", configdef.TypeLong, "-1", static, nil,
		"Bytes of Produce requests held in memory over all connections; a number below 1 leaves the bound to the broker, which is 48 MiB."),
	ignored("queued.max.requests", configdef.TypeInt, "500", static),
	ignored("request.timeout.ms", configdef.TypeInt, "30000", static),
	ignored("socket.connection.setup.timeout.max.ms", configdef.TypeLong, "30000", static),
	ignored("socket.connection.setup.timeout.ms", configdef.TypeLong, "10000", static),
	ignored("socket.listen.backlog.size", configdef.TypeInt, "50", static),
	ignored("socket.receive.buffer.bytes", configdef.TypeInt, "102400", static),
	served("socket.request.max.bytes", configdef.TypeInt, "104857600", static, configdef.AtLeast(1),
		"Largest request; a connection that announces a larger one is closed."),
	served("socket.send.buffer.bytes", configdef.TypeInt, "262144", static, nil,
		"Send buffer of each connection in the kernel, larger than Kafka's default; a number below 1 leaves it to the system, for clients far away."),
}
