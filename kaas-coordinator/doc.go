// Package coordinator coordinates the consumer groups and transactions whose slots this process leads: it keeps members, committed offsets and
// transactional ids in coordinator slots and answers what clients ask of them, in plain Go types.
//
// # Life cycle
//
// [New], then [Coordinator.Run] until its context ends. Run asks the [Source] for the partition of each slot, replays it, serves it until its leadership
// ends, and asks again. In between the answer is [ErrNotCoordinator], during a replay [ErrLoading].
//
// # Promises
//
// No answer leaves before it is certain: what it rests on is appended, durable, and was still owned by this process at a check after the request
// arrived. Commits of one slot that are under way together share one sync. An error other than a context's says what did not happen, except for
// [ErrNotCoordinator], behind which a commit may be durable all the same, as after any lost answer.
//
// # Concurrency
//
// All methods are safe for concurrent use. The end of a context ends the wait for an answer, not what was begun. DESIGN.md walks a commit and a
// rebalance through the files.
package coordinator
