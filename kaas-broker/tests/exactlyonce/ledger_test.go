package exactlyonce

import (
	"fmt"
	"sync"
)

// stamp is a record's value: which producer sent it, in which of its transactions, and as which record of that.
type stamp struct{ producer, transaction, record int }

// String is the stamp on the wire.
func (s stamp) String() string { return fmt.Sprintf("%d/%d/%d", s.producer, s.transaction, s.record) }

func parseStamp(value []byte) (s stamp, err error) {
	_, err = fmt.Sscanf(string(value), "%d/%d/%d", &s.producer, &s.transaction, &s.record)
	return s, err
}

const (
	partitions      = 3
	keysPerProducer = 4
)

// key orders records: those of one key are read in the order in which they were sent. The key also says the partition.
func (s stamp) key() string { return fmt.Sprintf("%d/%d", s.producer, s.record%keysPerProducer) }

func (s stamp) partition() int32 { return int32((s.producer + s.record%keysPerProducer) % partitions) }

// fate is what a producer knows about the end of a transaction.
type fate byte

const (
	open      fate = '-' // no commit was asked for: it must never be seen
	asked     fate = '?' // a commit was asked for and not answered: all of it is seen, or nothing
	committed fate = 'C'
	aborted   fate = 'A'
)

// transaction is one of a producer's.
type transaction struct{ producer, number int }

// ledger is what producers were told about their transactions.
type ledger struct {
	mu      sync.Mutex
	fates   map[transaction]fate
	records map[transaction]int
}

func newLedger() *ledger {
	return &ledger{fates: map[transaction]fate{}, records: map[transaction]int{}}
}

func (l *ledger) begins(t transaction, records int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fates[t], l.records[t] = open, records
}

func (l *ledger) is(t transaction, f fate) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fates[t] = f
}

// String counts the fates.
func (l *ledger) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	counts := map[fate]int{}
	for _, f := range l.fates {
		counts[f]++
	}
	return fmt.Sprintf("%d committed, %d aborted, %d unknown, %d left open", counts[committed], counts[aborted], counts[asked], counts[open])
}

func (l *ledger) recordsOf(t transaction) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.records[t]
}
