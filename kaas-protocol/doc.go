// Package protocol serves Kafka's wire protocol over TCP: it owns listeners, connections, the dispatch gate
// and the order of responses. It knows nothing of topics, partitions or storage: each Kafka API is an [API]
// row given in [Config], and what a row answers is sent as it is.
//
// # Life cycle
//
// [New] validates, [Server.Listen] binds every listener, [Server.Serve] accepts until its context ends or
// [Server.Shutdown] (drain) or [Server.Close] (at once) is called, and returns when the last connection's
// goroutines have ended.
//
// # Concurrency
//
// Each connection has one reader goroutine, which runs [API].Start, and one writer goroutine, which runs what
// Start returned, in request order. Nothing else runs handlers. DESIGN.md walks a request through the files.
package protocol
