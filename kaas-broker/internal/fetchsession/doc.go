// Package fetchsession keeps incremental fetch sessions (KIP-227): what a consumer asked for last and what it was answered, so that it need only send
// changes and is only sent changes. It follows Kafka 3.7's FetchSession classes.
//
// A Fetch request passes through [Cache.Begin], which gives the partitions to read, and [Fetch.End], which says which of the answers to
// leave out. The number of sessions is bounded: when all slots hold young sessions, a new one is refused, and its client sends full requests.
//
// A Cache is safe for concurrent use. The package knows nothing of topics or storage.
package fetchsession
