// Package group is the classic group protocol of Kafka 3.7: who is in a group, who leads it, which generation holds, and who was assigned what.
//
// [Machine] is the protocol itself: events in, [Effects] out. It does no I/O, has no clock and draws no ids, so that every rule can be tried
// with a script. [Live] drives one machine with timers, parks the requests that it leaves unanswered, and has its state stored; the coordinator
// owns it. Offsets are not here, see package offset.
//
// Behavior follows Kafka's GroupCoordinator and GroupMetadata with KIP-62 (rebalance timeout), KIP-134 (initial delay), KIP-345 (static
// members), KIP-394 (member ids first) and KIP-814 (skipped assignment).
//
// # Concurrency
//
// A Machine is not safe for concurrent use. A Live is used under the lock that it was given, the slot's.
package group
