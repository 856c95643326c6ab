// Package api answers Kafka requests: one file per API, which opens with the key, the versions and where kaas deviates from Apache Kafka 3.7.
//
// [New] takes what the handlers work on ([Deps], small interfaces) and [Handlers.Table] gives the rows for the protocol server. errors.go is the one
// place where a Go error becomes a Kafka error code. The package keeps no topics, no partitions and no files; it holds the fetch
// sessions and bounds how many records are decompressed at a time.
//
// Life cycle: New, then any number of requests. Handlers are safe for concurrent use, start no goroutine that outlives its request, and have nothing to close.
//
// Where a handler runs: what the row's Start does runs on the connection's reader, which reads nothing meanwhile; the rest runs on its writer, in request
// order. Produce appends in Start, so that a client with several requests in flight fills one commit. There it waits for nothing but a turn to look into
// compressed records, and for the coordinator at the first batch of a transaction. Every other API does all its work when its turn has come.
package api
