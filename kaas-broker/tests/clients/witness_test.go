package clients

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// witness remembers what the members of one group tell about one topic: each record that they have read, each commit that was acknowledged, where
// each one began to read. It fails the test when these do not fit together.
type witness struct {
	t       *testing.T
	mutex   sync.Mutex
	read    []map[int64]int // by partition: how often the record at each offset was read
	next    []int64         // by partition: one above the highest offset read
	commits []int64         // by partition: the highest offset whose commit was acknowledged, 0 at first
	seen    []int64         // by partition: the highest committed offset that the coordinator has told
	total   int64           // records, counting each reading
	refused int
	// forgiven is how many records a client may leave out by its own fault.
	forgiven int
	seats    map[string]*seat
	// failures are what members are expected to fail with.
	failures map[string]string
}

// seat is the present view of one member.
type seat struct {
	generation int
	id         string
	partitions map[int32]bool
	// moves counts partitions that came and went.
	moves  int
	closed bool
}

func newWitness(t *testing.T, partitions int32) *witness {
	w := &witness{
		t: t, read: make([]map[int64]int, partitions), next: make([]int64, partitions), commits: make([]int64, partitions), seen: make([]int64, partitions),
		seats: map[string]*seat{}, failures: map[string]string{},
	}
	for partition := range w.read {
		w.read[partition] = map[int64]int{}
	}
	return w
}

// reads takes in that a member has read a record.
func (w *witness) reads(partition int32, offset int64) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.read[partition][offset]++
	w.next[partition] = max(w.next[partition], offset+1)
	w.total++
}

// committed takes in that a member's commit was acknowledged.
func (w *witness) committed(member string, partition int32, offset int64) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if before := w.commits[partition]; offset < before {
		w.t.Errorf("%s: partition %d: a commit of %d is acknowledged after one of %d", member, partition, offset, before)
	}
	w.commits[partition] = max(w.commits[partition], offset)
}

// told takes in what the coordinator says is committed: never less than before, nor than members knew when it was asked.
func (w *witness) told(partition int32, floor, offset int64) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if before := w.seen[partition]; offset < max(floor, before) {
		w.t.Errorf("partition %d: the coordinator tells %d, but has told %d before, and %d was committed", partition, offset, before, floor)
	}
	w.seen[partition] = max(w.seen[partition], offset)
}

// assigned takes in that a member got a partition and where it begins: not below what was committed, and not above what anybody has read.
func (w *witness) assigned(member string, partition int32, position int64) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	s := w.seat(member)
	s.partitions[partition] = true
	s.moves++
	if position < w.commits[partition] || position > w.next[partition] {
		w.t.Errorf("%s begins partition %d at %d, but %d is committed and the next one to read is %d",
			member, partition, position, w.commits[partition], w.next[partition])
	}
}

func (w *witness) revoked(member string, partition int32) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	s := w.seat(member)
	delete(s.partitions, partition)
	s.moves++
}

// joined takes in a member's generation and its id, whenever they change.
func (w *witness) joined(member string, generation int, id string) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	s := w.seat(member)
	s.generation, s.id, s.closed = generation, id, false
}

func (w *witness) closed(member string) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.seat(member).closed = true
	clear(w.seat(member).partitions)
}

// hears takes in one line of events, as the Java program writes them.
func (w *witness) hears(line string) {
	var event, member string
	var first, second int64
	if _, err := fmt.Sscan(line, &event, &member); err != nil {
		w.t.Errorf("%q is no event", line)
		return
	}
	_, _ = fmt.Sscan(line, &event, &member, &first, &second)
	switch event {
	case "record":
		w.reads(int32(first), second)
	case "committed":
		w.committed(member, int32(first), second)
	case "assigned":
		w.assigned(member, int32(first), second)
	case "revoked", "lost":
		w.revoked(member, int32(first))
	case "generation":
		var id string
		_, _ = fmt.Sscan(line, &event, &member, &first, &id)
		w.joined(member, int(first), id)
	case "closed":
		w.closed(member)
	case "refused":
		w.refuses()
	case "failed":
		w.fails(member, line)
	case "rebalanced":
	default:
		w.t.Error(line)
	}
}

// forgives one record that nobody reads.
func (w *witness) forgives() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.forgiven++
}

func (w *witness) refuses() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.refused++
}

func (w *witness) refusals() int {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.refused
}

// expectFailure lets a member fail with this error.
func (w *witness) expectFailure(member, failure string) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.failures[member] = failure
}

func (w *witness) fails(member, line string) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if expected := w.failures[member]; expected == "" || !strings.Contains(line, expected) {
		w.t.Error(line)
	}
}

// view is what a member has now.
func (w *witness) view(member string) seat {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	s := *w.seat(member)
	copied := map[int32]bool{}
	for partition := range s.partitions {
		copied[partition] = true
	}
	s.partitions = copied
	return s
}

func (w *witness) seat(member string) *seat {
	s, known := w.seats[member]
	if !known {
		s = &seat{generation: -1, partitions: map[int32]bool{}}
		w.seats[member] = s
	}
	return s
}

func (w *witness) readings() int64 {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.total
}

func (w *witness) committedOffsets() []int64 {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return append([]int64(nil), w.commits...)
}

// settled says whether these members, and nobody else, share all partitions in one generation.
func (w *witness) settled(members ...string) bool {
	shared := map[int32]bool{}
	generation := w.view(members[0]).generation
	for _, member := range members {
		s := w.view(member)
		if s.generation != generation || s.closed {
			return false
		}
		for partition := range s.partitions {
			shared[partition] = true
		}
	}
	return generation >= 0 && len(shared) == len(w.read)
}

// finish waits until every record up to the ends was read and committed, then fails the test for those that nobody has read.
func (w *witness) finish(ends []int64) {
	w.t.Helper()
	w.awaitCommits(ends)
	w.mutex.Lock()
	defer w.mutex.Unlock()
	var unread []string
	for partition, end := range ends {
		for offset := range end {
			if w.read[partition][offset] == 0 {
				unread = append(unread, fmt.Sprintf("%d of %d in partition %d", offset, end, partition))
			}
		}
	}
	if len(unread) > w.forgiven {
		w.t.Errorf("nobody has read the records at %s", strings.Join(unread, ", "))
	}
}

// awaitCommits waits until every record up to the ends is committed.
func (w *witness) awaitCommits(ends []int64) {
	w.t.Helper()
	eventually(w.t, 60*time.Second, func() error {
		w.mutex.Lock()
		defer w.mutex.Unlock()
		for partition, end := range ends {
			if known := max(w.commits[partition], w.seen[partition]); known != end {
				return fmt.Errorf("partition %d of %d records: %d committed", partition, end, known)
			}
		}
		return nil
	})
}
