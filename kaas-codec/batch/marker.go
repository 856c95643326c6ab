package batch

import (
	"encoding/binary"
	"fmt"
)

// Marker is the content of a control batch that ends a transaction in one partition (Kafka's
// EndTransactionMarker and ControlRecordType).
type Marker struct {
	// Commit is false for an abort.
	Commit bool
	// CoordinatorEpoch is the epoch of the coordinator that decided.
	CoordinatorEpoch int32
	// Identity tells decisions of one producer apart; it follows Kafka's six bytes of the value,
	// where Kafka and its clients ignore it. Meaningless unless HasIdentity.
	Identity    int64
	HasIdentity bool
}

// Key and value of a marker: version and type, version and coordinator epoch, identity.
const (
	markerKeySize      = 4
	markerValueSize    = 6
	markerIdentitySize = 8

	markerAbort  = 0
	markerCommit = 1
)

// NewMarkerBatch returns the control batch of a marker for the producer, at offset 0, with a
// timestamp in milliseconds.
func NewMarkerBatch(m Marker, producerID int64, producerEpoch int16, timestamp int64) (Batch, error) {
	builder := NewBuilder()
	builder.control = true
	builder.Transactional = true
	builder.ProducerID = producerID
	builder.ProducerEpoch = producerEpoch
	builder.Add(timestamp, m.key(), m.value())
	return builder.Build()
}

func (m Marker) key() []byte {
	key := make([]byte, markerKeySize)
	if m.Commit {
		binary.BigEndian.PutUint16(key[2:], markerCommit)
	}
	return key
}

func (m Marker) value() []byte {
	value := make([]byte, markerValueSize, markerValueSize+markerIdentitySize)
	binary.BigEndian.PutUint32(value[2:], uint32(m.CoordinatorEpoch))
	if m.HasIdentity {
		value = binary.BigEndian.AppendUint64(value, uint64(m.Identity))
	}
	return value
}

// Marker decodes the transaction marker of a control batch. The second result is false for other
// control records (leader changes, snapshots) that a log may hold, and for a control batch that compaction
// has emptied. The error is [ErrMalformed] for a batch that is no control batch or whose key or value is
// cut short.
func (b Batch) Marker(t *Tripwires) (Marker, bool, error) {
	if !b.Control() {
		return Marker{}, false, fmt.Errorf("read marker of a batch without the control bit: %w", ErrMalformed)
	}
	for record, err := range b.Records(t, SiteControlRecord, 0) {
		if err != nil {
			return Marker{}, false, fmt.Errorf("read marker: %w", err)
		}
		return parseMarker(record)
	}
	return Marker{}, false, nil
}

func parseMarker(record Record) (Marker, bool, error) {
	if len(record.Key) < markerKeySize {
		return Marker{}, false, fmt.Errorf("read marker key of %d bytes: %w", len(record.Key), ErrMalformed)
	}
	kind := binary.BigEndian.Uint16(record.Key[2:])
	if kind != markerAbort && kind != markerCommit {
		return Marker{}, false, nil
	}
	if len(record.Value) < markerValueSize {
		return Marker{}, false, fmt.Errorf("read marker value of %d bytes: %w", len(record.Value), ErrMalformed)
	}
	marker := Marker{
		Commit:           kind == markerCommit,
		CoordinatorEpoch: int32(binary.BigEndian.Uint32(record.Value[2:])),
	}
	if rest := record.Value[markerValueSize:]; len(rest) >= markerIdentitySize {
		marker.Identity = int64(binary.BigEndian.Uint64(rest))
		marker.HasIdentity = true
	}
	return marker, true, nil
}
