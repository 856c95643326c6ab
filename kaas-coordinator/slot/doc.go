// Package slot keeps the records of one coordinator slot: a partition of the internal log whose replay is the state of the groups and transactions
// that hash to it.
//
// A slot is a [storage.Partition] like any other: owned, claimed, taken over and handed over as one. This package knows keys and values,
// not what they mean. It replays the log, appends one batch for each change, tells when a change is durable, and trims what is no longer
// needed from the front of the log.
//
// # Format
//
// Key and value of each record are JSON objects and can be read with any tool that shows records. A null value removes the key. Values begin with
// their version; one that is not known here was written by later software and is refused, see [VersionError].
//
// # Life cycle
//
// [EnsureSlots] prepares the directories once. [Open] replays a partition that somebody took over; Close ends the slot and leaves the partition to its
// owner. The slot ends with the leadership of its partition: see Done.
//
// # Concurrency
//
// A change in memory and its append are one step: both are made between [Slot.Lock] and [Slot.Unlock]. Waiting happens outside. The owner's lock is
// thus the slot's lock, and it is held across no file operation.
package slot
