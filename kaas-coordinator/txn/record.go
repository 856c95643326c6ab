package txn

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/google/uuid"

	"github.com/kaas-rs/kaas/kaas-coordinator/slot"
)

// record is the value of a transaction record.
type record struct {
	Version        int           `json:"version"`
	ProducerID     int64         `json:"producer_id"`
	Epoch          int16         `json:"epoch"`
	LastProducerID int64         `json:"last_producer_id"`
	LastEpoch      int16         `json:"last_epoch"`
	TimeoutMs      int64         `json:"timeout_ms"`
	State          string        `json:"state"`
	Start          int64         `json:"start"`
	Updated        int64         `json:"updated"`
	Identity       *int64        `json:"identity,omitempty"` // of a decided one
	Partitions     []recordTopic `json:"partitions,omitempty"`
	Groups         []string      `json:"groups,omitempty"`
}

// recordTopic are the partitions of one incarnation of a topic.
type recordTopic struct {
	Topic      string    `json:"topic"`
	TopicID    uuid.UUID `json:"topic_id"`
	Partitions []int32   `json:"partitions"`
}

// Encode returns the value of a transaction record.
func (t Transaction) Encode() ([]byte, error) {
	r := record{
		Version: slot.Version, ProducerID: t.Producer.ID, Epoch: t.Producer.Epoch, LastProducerID: t.LastProducerID, LastEpoch: t.LastEpoch,
		TimeoutMs: t.Timeout.Milliseconds(), State: t.State.String(), Start: t.Start, Updated: t.Updated, Groups: t.Groups,
	}
	if t.State.IsDecided() {
		r.Identity = &t.Identity
	}
	for i, at := range t.Partitions {
		if i == 0 || at.Topic != t.Partitions[i-1].Topic || at.TopicID != t.Partitions[i-1].TopicID {
			r.Partitions = append(r.Partitions, recordTopic{Topic: at.Topic, TopicID: at.TopicID})
		}
		last := &r.Partitions[len(r.Partitions)-1]
		last.Partitions = append(last.Partitions, at.Partition)
	}
	return json.Marshal(r)
}

var (
	errUnknownState = errors.New("unknown state")
	errNoProducer   = errors.New("no producer")
	errNoIdentity   = errors.New("decided without an identity")
	errTimeout      = errors.New("timeout is out of bounds")
)

// maxTimeoutMs is the largest timeout that a time.Duration can hold.
const maxTimeoutMs = math.MaxInt64 / int64(time.Millisecond)

// Decode reads the value of a transaction record. An unknown version is a *slot.VersionError. Nothing is kept of the argument.
func Decode(value []byte) (Transaction, error) {
	var r record
	if err := json.Unmarshal(value, &r); err != nil {
		return Transaction{}, fmt.Errorf("transaction: %w", err)
	}
	if err := slot.CheckVersion(slot.KindTransaction, r.Version); err != nil {
		return Transaction{}, err
	}
	t, err := r.transaction()
	if err != nil {
		return Transaction{}, fmt.Errorf("transaction: %w", err)
	}
	return t, nil
}

func (r record) transaction() (Transaction, error) {
	state, known := ParseState(r.State)
	switch {
	case !known:
		return Transaction{}, fmt.Errorf("%w %q", errUnknownState, r.State)
	case r.ProducerID < 0 || r.Epoch < 0:
		return Transaction{}, errNoProducer
	case r.TimeoutMs < 0 || r.TimeoutMs > maxTimeoutMs:
		return Transaction{}, errTimeout
	case state.IsDecided() && (r.Identity == nil || *r.Identity < 0):
		return Transaction{}, errNoIdentity
	}
	t := Transaction{
		Producer: Producer{ID: r.ProducerID, Epoch: r.Epoch}, LastProducerID: r.LastProducerID, LastEpoch: r.LastEpoch,
		Timeout: time.Duration(r.TimeoutMs) * time.Millisecond, State: state, Start: r.Start, Updated: r.Updated, Identity: -1,
		Groups: sortedGroups(r.Groups),
	}
	if state.IsDecided() {
		t.Identity = *r.Identity
	}
	for _, topic := range r.Partitions {
		for _, partition := range topic.Partitions {
			t.Partitions = append(t.Partitions, Partition{Topic: topic.Topic, TopicID: topic.TopicID, Partition: partition})
		}
	}
	t.Partitions = sortedPartitions(t.Partitions)
	return t, nil
}
