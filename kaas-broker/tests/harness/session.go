package harness

import "github.com/twmb/franz-go/pkg/kgo"

// StillHeld reports whether a client's group still holds everything that was read, so that its offsets will be part of the transaction which is about to end.
// A session of franz-go 1.22.3 forgets a loss of the group that it learns of while a transaction ends: what was polled before would then be
// committed without its offsets, and read again by whoever comes next. So a program asks, after its records are flushed and right before the end.
func StillHeld(client *kgo.Client, read kgo.Fetches) bool {
	offsets := client.UncommittedOffsets()
	held := true
	read.EachRecord(func(r *kgo.Record) {
		held = held && offsets[r.Topic][r.Partition].Offset > r.Offset
	})
	return held
}
