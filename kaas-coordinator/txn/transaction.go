package txn

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Producer is one instance of a producer: each that registers under a transactional id gets a higher epoch.
type Producer struct {
	ID    int64
	Epoch int16
}

// NoProducer stands for a producer that does not say who it was.
func NoProducer() Producer { return Producer{ID: -1, Epoch: -1} }

// Partition names a partition of one incarnation of a topic.
type Partition struct {
	Topic     string
	TopicID   uuid.UUID // uuid.Nil when not known
	Partition int32
}

func comparePartitions(a, b Partition) int {
	return cmp.Or(
		strings.Compare(a.Topic, b.Topic), slices.Compare(a.TopicID[:], b.TopicID[:]), cmp.Compare(a.Partition, b.Partition))
}

// Transaction is what is known of a transactional id. It is a value: nothing changes it in place, its slices included.
type Transaction struct {
	Producer Producer
	// LastProducerID and LastEpoch are what the producer had before, -1 for none: with them the repetition of a registration is told from one by a
	// replaced instance (KIP-360).
	LastProducerID int64
	LastEpoch      int16
	Timeout        time.Duration
	State          State
	Partitions     []Partition // sorted
	Groups         []string    // whose offsets it commits; sorted
	Start          int64       // when the transaction began, ms since 1970; -1 if none has since the producer registered
	Updated        int64       // when the state was appended, ms since 1970
	// Identity is where the decision was first appended in the slot's log; -1 unless decided. It orders the markers of a producer.
	Identity int64
}

// New is a transactional id that nobody has registered under yet. It is not worth storing before Register.
func New() Transaction {
	return Transaction{Producer: NoProducer(), LastProducerID: -1, LastEpoch: -1, Start: -1, Identity: -1}
}

// Moment is when and where a step is made.
type Moment struct {
	Now  time.Time
	Next int64 // the offset that the step's record gets in the slot's log
}

// Step is what a request comes to.
type Step struct {
	Next    Transaction // what it is from now on
	Changed bool        // Next is to be appended before the answer
	Refusal error       // the answer; nil when the request is granted
}

// refuse leaves all as it is.
func (t Transaction) refuse(err error) Step { return Step{Next: t, Refusal: err} }

// change is a step that grants the request.
func change(next Transaction, at Moment) Step {
	next.Updated = at.Now.UnixMilli()
	return Step{Next: next, Changed: true}
}

// check says whether it is the present producer who asks.
func (t Transaction) check(p Producer) error {
	switch {
	case t.Producer.ID != p.ID:
		return ErrInvalidProducerIDMapping
	case t.Producer.Epoch != p.Epoch:
		return ErrProducerFenced
	}
	return nil
}

// Commits reports the outcome of a decided transaction.
func (t Transaction) Commits() bool { return t.State == PrepareCommit }

// IsExpired reports whether nothing was done under the id for so long that it can be forgotten.
func (t Transaction) IsExpired(now time.Time, expiry time.Duration) bool {
	return t.State.IsIdle() && t.Updated <= now.UnixMilli()-expiry.Milliseconds()
}
