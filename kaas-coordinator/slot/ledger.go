package slot

// ledger knows, for each live key, where it was last written. The values stay in the log.
type ledger struct {
	keys  map[Key]place
	bytes int64 // of the records that are live
	log   int64 // of all batches from the log start on
}

// place is where a key was last written.
type place struct {
	offset int64
	bytes  int32
}

// recordBytes is about what a record takes beside its value: frame and key.
func recordBytes(r Record) int32 {
	return int32(48 + len(r.Key.ID) + len(r.Key.Topic) + len(r.Value))
}

func newLedger() ledger { return ledger{keys: make(map[Key]place)} }

// appended enters a batch whose first record is at base.
func (l *ledger) appended(records []Record, base, size int64) {
	l.log += size
	for i, r := range records {
		l.record(r, base+int64(i))
	}
}

// record enters one record without the size of its batch.
func (l *ledger) record(r Record, offset int64) {
	before := l.keys[r.Key]
	l.bytes -= int64(before.bytes)
	if r.Value == nil {
		delete(l.keys, r.Key)
		return
	}
	after := place{offset: offset, bytes: recordBytes(r)}
	l.keys[r.Key] = after
	l.bytes += int64(after.bytes)
}

// isLast reports whether the key was last written at offset.
func (l *ledger) isLast(key Key, offset int64) bool {
	at, live := l.keys[key]
	return live && at.offset == offset
}

// trimFactor is how many times the live state the log may be.
const trimFactor = 4

func (l *ledger) hasGrown(least int64) bool { return l.log > least && l.log > trimFactor*l.bytes }
