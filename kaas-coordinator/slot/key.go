package slot

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"strconv"
	"strings"
)

// The number of slots of a cluster is stamped on its directory and never changes.
const (
	// DefaultCount is for a directory that one process serves. Each slot syncs a log of its own, and commits share a sync only within one: with few slots
	// many do (docs/adr/0008-few-coordinator-slots.md).
	DefaultCount = 4
	// MaxCount bounds what is stamped, and what is believed of a stamp.
	MaxCount = 1000
)

// Of returns the slot, in [0, count), of a group id or transactional id. Bytes that are not UTF-8 count as the replacement character, which is how they
// are stored.
func Of(id string, count int) int {
	hash := fnv.New32a()
	_, _ = io.WriteString(hash, strings.ToValidUTF8(id, "\uFFFD"))
	return int(hash.Sum32() % uint32(count))
}

// Kind says what a key stands for.
type Kind uint8

// The kinds of keys.
const (
	KindOffset      Kind = iota + 1 // the committed offset of a group in a partition
	KindPending                     // an offset that a transaction will commit
	KindGroup                       // a group's members and their assignment
	KindTransaction                 // a transactional id
	KindMarker                      // the last marker of a producer
)

// kindNames are the kinds as they are written.
var kindNames = [...]string{
	KindOffset: "offset", KindPending: "pending", KindGroup: "group", KindTransaction: "transaction", KindMarker: "marker",
}

// String returns the kind as it is written in records.
func (k Kind) String() string {
	if k == 0 || int(k) >= len(kindNames) {
		return "unknown"
	}
	return kindNames[k]
}

func parseKind(name string) (Kind, bool) {
	for kind := KindOffset; int(kind) < len(kindNames); kind++ {
		if kindNames[kind] == name {
			return kind, true
		}
	}
	return 0, false
}

// Key names one thing that a slot keeps. Which fields mean something depends on the kind; the others are zero. Keys are comparable.
type Key struct {
	Kind       Kind
	ID         string // group id (KindOffset, KindPending, KindGroup) or transactional id (KindTransaction)
	Topic      string // KindOffset, KindPending
	Partition  int32  // KindOffset, KindPending
	ProducerID int64  // KindPending, KindMarker
}

// OffsetKey is the key of a group's committed offset.
func OffsetKey(group, topic string, partition int32) Key {
	return Key{Kind: KindOffset, ID: group, Topic: topic, Partition: partition}
}

// PendingKey is the key of an offset that a producer's transaction will commit.
func PendingKey(group string, producerID int64, topic string, partition int32) Key {
	return Key{Kind: KindPending, ID: group, Topic: topic, Partition: partition, ProducerID: producerID}
}

// GroupKey is the key of a group.
func GroupKey(group string) Key { return Key{Kind: KindGroup, ID: group} }

// TransactionKey is the key of a transactional id.
func TransactionKey(id string) Key { return Key{Kind: KindTransaction, ID: id} }

// MarkerKey is the key of the last marker of a producer.
func MarkerKey(producerID int64) Key { return Key{Kind: KindMarker, ProducerID: producerID} }

func (k Key) hasID() bool        { return k.Kind != KindMarker }
func (k Key) hasPartition() bool { return k.Kind == KindOffset || k.Kind == KindPending }
func (k Key) hasProducer() bool  { return k.Kind == KindPending || k.Kind == KindMarker }

// appendJSON appends the key as a JSON object.
func (k Key) appendJSON(b []byte) []byte {
	b = append(b, `{"kind":"`...)
	b = append(b, k.Kind.String()...)
	b = append(b, '"')
	if k.hasID() {
		b = AppendString(append(b, `,"id":`...), k.ID)
	}
	if k.hasProducer() {
		b = strconv.AppendInt(append(b, `,"producer_id":`...), k.ProducerID, 10)
	}
	if k.hasPartition() {
		b = AppendString(append(b, `,"topic":`...), k.Topic)
		b = strconv.AppendInt(append(b, `,"partition":`...), int64(k.Partition), 10)
	}
	return append(b, '}')
}

// sharing is the key with the texts of another one where they are equal: what is committed at once has them in common, and they are kept for long.
func (k Key) sharing(other Key) Key {
	if k.ID == other.ID {
		k.ID = other.ID
	}
	if k.Topic == other.Topic {
		k.Topic = other.Topic
	}
	return k
}

// jsonKey is a key as it is read. Fields that this version does not write are refused: they would tell keys apart that are one here.
type jsonKey struct {
	Kind       string `json:"kind"`
	ID         string `json:"id"`
	ProducerID int64  `json:"producer_id"`
	Topic      string `json:"topic"`
	Partition  int32  `json:"partition"`
}

func parseKey(b []byte) (Key, error) {
	if key, written := parseWritten(b); written {
		return key, nil
	}
	var read jsonKey
	decoder := json.NewDecoder(bytes.NewReader(b))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&read); err != nil {
		return Key{}, fmt.Errorf("key: %w", err)
	}
	kind, known := parseKind(read.Kind)
	if !known {
		return Key{}, &VersionError{What: fmt.Sprintf("record of kind %q", read.Kind)}
	}
	return Key{Kind: kind, ID: read.ID, ProducerID: read.ProducerID, Topic: read.Topic, Partition: read.Partition}, nil
}

// AppendString appends a JSON string. Bytes that are not UTF-8 become the replacement character, as in Kafka.
func AppendString(b []byte, s string) []byte {
	if !isPlain(s) {
		quoted, _ := json.Marshal(s) // a string cannot fail
		return append(b, quoted...)
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}
