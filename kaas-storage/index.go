package storage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sort"
	"sync"
)

// Sizes of the entries, as Kafka's OffsetIndex and TimeIndex have them.
const (
	offsetEntrySize = 8  // last offset of a batch relative to the base, its position; two big-endian uint32
	timeEntrySize   = 12 // largest timestamp so far as big-endian int64, last offset of its batch relative to the base
)

// offsetEntry says that the batch that ends with offset base+relative begins at position.
type offsetEntry struct {
	relative uint32
	position uint32
}

// timeEntry says that no record up to offset base+relative is newer than timestamp, and that one of that batch has it.
type timeEntry struct {
	timestamp int64
	relative  uint32
}

// sparseIndex finds positions by offset, and offsets by timestamp, in one segment. The first entries are in its two files,
// the newest in memory until the recovery point moves: the indexes are rebuilt from the log after a crash, so the commit path
// never waits for them. Lookups may run beside appends.
type sparseIndex struct {
	mu        sync.Mutex
	stored    indexState // how many entries the files hold
	offsets   []offsetEntry
	times     []timeEntry
	sinceLast int64 // bytes of log since the last entry
	newest    timeEntry
	anyTime   bool
	lastTime  int64 // timestamp of the newest entry that was added
	anyAdded  bool
}

// add notes a batch before it is written at position. interval is the distance in bytes between entries.
func (x *sparseIndex) add(entry offsetEntry, timestamp, size int64, interval int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.anyTime || timestamp > x.newest.timestamp {
		x.newest, x.anyTime = timeEntry{timestamp, entry.relative}, true
	}
	if x.sinceLast > int64(interval) {
		x.offsets = append(x.offsets, entry)
		x.addTimeLocked()
		x.sinceLast = 0
	}
	x.sinceLast += size
}

// addTimeLocked stores the newest timestamp unless it is there already.
func (x *sparseIndex) addTimeLocked() {
	if !x.anyTime || x.anyAdded && x.lastTime >= x.newest.timestamp {
		return
	}
	x.times = append(x.times, x.newest)
	x.lastTime, x.anyAdded = x.newest.timestamp, true
}

// mark adds the largest timestamp as an entry, so that the entries of what was added so far end with it: who reads only them must not
// take the rest for older than it is.
func (x *sparseIndex) mark() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.addTimeLocked()
}

// pending copies the entries below relative that are not in the files yet.
func (x *sparseIndex) pending(relative int64) (offsets []offsetEntry, times []timeEntry) {
	x.mu.Lock()
	defer x.mu.Unlock()
	o := sort.Search(len(x.offsets), func(i int) bool { return int64(x.offsets[i].relative) >= relative })
	t := sort.Search(len(x.times), func(i int) bool { return int64(x.times[i].relative) >= relative })
	return append(offsets, x.offsets[:o]...), append(times, x.times[:t]...)
}

// written drops what pending returned, now that the files hold it.
func (x *sparseIndex) written(offsets, times int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.stored.OffsetEntries += int64(offsets)
	x.stored.TimeEntries += int64(times)
	x.offsets = append([]offsetEntry(nil), x.offsets[offsets:]...)
	x.times = append([]timeEntry(nil), x.times[times:]...)
}

func (x *sparseIndex) counts() indexState {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.stored
}

// position returns where to begin the search for a batch that holds base+relative: at a batch that ends at or before it.
func (x *sparseIndex) position(relative uint32, file *fileHandle) (int64, error) {
	x.mu.Lock()
	i := sort.Search(len(x.offsets), func(i int) bool { return x.offsets[i].relative > relative })
	if i > 0 {
		defer x.mu.Unlock()
		return int64(x.offsets[i-1].position), nil
	}
	stored := x.stored.OffsetEntries
	x.mu.Unlock()
	entry, found, err := searchFile(stored, offsetEntrySize, file, decodeOffsetEntry,
		func(e offsetEntry) bool { return e.relative <= relative })
	if err != nil || !found {
		return 0, err
	}
	return int64(entry.position), nil
}

// after returns the first entry for a batch at position or behind it.
func (x *sparseIndex) after(position int64, file *fileHandle) (entry offsetEntry, found bool, err error) {
	x.mu.Lock()
	i := sort.Search(len(x.offsets), func(i int) bool { return int64(x.offsets[i].position) >= position })
	if i < len(x.offsets) {
		entry, found = x.offsets[i], true
	}
	stored := x.stored.OffsetEntries
	x.mu.Unlock()
	if i > 0 {
		return entry, found, nil
	}
	_, _, err = searchFile(stored, offsetEntrySize, file, decodeOffsetEntry, func(e offsetEntry) bool {
		if int64(e.position) < position {
			return true
		}
		entry, found = e, true // the last that is found so is the first of all
		return false
	})
	return entry, found, err
}

// before returns the last entry whose timestamp is below ms: no record up to its offset can match a search for ms.
func (x *sparseIndex) before(ms int64, file *fileHandle) (timeEntry, bool, error) {
	x.mu.Lock()
	i := sort.Search(len(x.times), func(i int) bool { return x.times[i].timestamp >= ms })
	if i > 0 {
		defer x.mu.Unlock()
		return x.times[i-1], true, nil
	}
	stored := x.stored.TimeEntries
	x.mu.Unlock()
	return searchFile(stored, timeEntrySize, file, decodeTimeEntry, func(e timeEntry) bool { return e.timestamp < ms })
}

// largest returns the entry with the largest timestamp of the segment. The file is read once, and closed: who asks goes on to the next of any number of segments.
func (x *sparseIndex) largest(file *fileHandle) (timeEntry, bool, error) {
	x.mu.Lock()
	newest, known, stored := x.newest, x.anyTime, x.stored.TimeEntries
	x.mu.Unlock()
	if known || stored == 0 {
		return newest, known, nil // what is in the files of one's own segment is not newer
	}
	entry, found, err := searchFile(stored, timeEntrySize, file, decodeTimeEntry, func(timeEntry) bool { return true })
	file.closeUnused()
	if err != nil || !found {
		return entry, found, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.anyTime || entry.timestamp > x.newest.timestamp {
		x.newest, x.anyTime = entry, true
	}
	return x.newest, true, nil
}

func decodeOffsetEntry(b []byte) offsetEntry {
	return offsetEntry{binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])}
}

func decodeTimeEntry(b []byte) timeEntry {
	return timeEntry{int64(binary.BigEndian.Uint64(b)), binary.BigEndian.Uint32(b[8:])}
}

func encodeOffsetEntries(entries []offsetEntry) []byte {
	b := make([]byte, 0, len(entries)*offsetEntrySize)
	for _, e := range entries {
		b = binary.BigEndian.AppendUint32(b, e.relative)
		b = binary.BigEndian.AppendUint32(b, e.position)
	}
	return b
}

func encodeTimeEntries(entries []timeEntry) []byte {
	b := make([]byte, 0, len(entries)*timeEntrySize)
	for _, e := range entries {
		b = binary.BigEndian.AppendUint64(b, uint64(e.timestamp))
		b = binary.BigEndian.AppendUint32(b, e.relative)
	}
	return b
}

// searchFile finds the last of count ascending entries for which below holds.
func searchFile[E any](count, size int64, handle *fileHandle, decode func([]byte) E, below func(E) bool) (E, bool, error) {
	var last E
	if count == 0 {
		return last, false, nil
	}
	file, err := handle.acquire()
	if err != nil {
		return last, false, err
	}
	defer handle.release()
	buf := make([]byte, size)
	low, high := int64(0), count // entries before low hold, from high on they do not
	for low < high {
		middle := (low + high) / 2
		if n, err := file.ReadAt(buf, middle*size); int64(n) < size {
			return last, false, fmt.Errorf("read index entry %d: %w", middle, orUnexpectedEOF(err))
		}
		if e := decode(buf); below(e) {
			last, low = e, middle+1
		} else {
			high = middle
		}
	}
	return last, low > 0, nil
}

func orUnexpectedEOF(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
