package clients

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// stamp is a record of the load: who sent it, and which of the sender's records it is.
type stamp struct {
	sender int
	number int64
}

// String is the record's value on the wire.
func (s stamp) String() string { return fmt.Sprintf("%d/%d", s.sender, s.number) }

func parseStamp(value []byte) (stamp, error) {
	var s stamp
	_, err := fmt.Sscanf(string(value), "%d/%d", &s.sender, &s.number)
	return s, err
}

// ledger remembers everything that any client was told: which record has which offset. It is told twice or more about most of them, and never
// accepts another answer. Offsets without an entry are records whose sender got no answer and that nobody has read yet.
type ledger struct {
	t       *testing.T
	mutex   sync.Mutex
	entries []map[int64]stamp // by partition and offset
	acks    int64
}

func newLedger(t *testing.T, partitions int32) *ledger {
	l := &ledger{t: t, entries: make([]map[int64]stamp, partitions)}
	for partition := range l.entries {
		l.entries[partition] = map[int64]stamp{}
	}
	return l
}

// note takes an answer in: of a producer, or of a consumer.
func (l *ledger) note(who string, partition int32, offset int64, s stamp) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if known, was := l.entries[partition][offset]; was && known != s {
		l.t.Errorf("%s: partition %d offset %d holds %v, it was %v before", who, partition, offset, s, known)
	}
	l.entries[partition][offset] = s
}

// acknowledged is note for a producer. The two checks of a record's way, its answer and its reading, meet in the ledger.
func (l *ledger) acknowledged(who string, partition int32, offset int64, s stamp) {
	l.note(who, partition, offset, s)
	l.mutex.Lock()
	l.acks++
	l.mutex.Unlock()
}

func (l *ledger) acknowledgements() int64 {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.acks
}

// judge reads every partition from the start to its end and compares. It returns the stamps of each partition, in order.
func (l *ledger) judge(address, topic string) [][]stamp {
	l.t.Helper()
	logs := make([][]stamp, len(l.entries))
	for partition := range logs {
		logs[partition] = l.log(address, topic, int32(partition))
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	for partition, entries := range l.entries {
		lost := 0
		for offset, want := range entries {
			if offset >= int64(len(logs[partition])) || logs[partition][offset] != want {
				lost++
				l.t.Logf("partition %d offset %d does not hold %v any more", partition, offset, want)
			}
		}
		if lost > 0 {
			l.t.Errorf("partition %d of %d records has lost %d", partition, len(logs[partition]), lost)
		}
	}
	return logs
}

// log is all of one partition. No transactions and no compaction: offsets have no gap.
func (l *ledger) log(address, topic string, partition int32) []stamp {
	l.t.Helper()
	end := endOffset(l.t, address, topic, partition)
	consumer := newFranz(l.t, address, kgo.FetchMaxWait(time.Second),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: {partition: kgo.NewOffset().AtStart()}}))
	defer consumer.Close()
	var stamps []stamp
	for int64(len(stamps)) < end {
		fetches := consumer.PollFetches(l.t.Context())
		if err := fetches.Err(); err != nil {
			l.t.Fatalf("partition %d, %d of %d records: %v", partition, len(stamps), end, err)
		}
		for _, r := range fetches.Records() {
			s, err := parseStamp(r.Value)
			if err != nil || r.Offset != int64(len(stamps)) {
				l.t.Fatalf("partition %d: offset %d with %q where %d should be: %v", partition, r.Offset, r.Value, len(stamps), err)
			}
			stamps = append(stamps, s)
		}
	}
	return stamps
}
