// Package txn is the state machine of transactional ids (KIP-98, KIP-360): what a request does to a transaction and how it is answered, and the records
// that it is kept in. It has no clock, no lock and does no I/O: a [Transaction] is a value, and each request returns a [Step] to another one. Whoever
// drives it appends the next state before it answers. The rules are those of TransactionCoordinator and TransactionMetadata of Kafka 3.7.
package txn
