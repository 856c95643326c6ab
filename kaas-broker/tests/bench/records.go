package main

import (
	"math/rand/v2"

	"github.com/twmb/franz-go/pkg/kgo"
)

// recordSize is the size of every value; there are no keys.
const recordSize = 1 << 10

// payloads are values that cannot be compressed, made once and sent again and again.
type payloads [][]byte

// newPayloads makes enough of them that none repeats within a batch.
func newPayloads() payloads {
	const count = 4096
	source := rand.NewChaCha8([32]byte{})
	all := make([]byte, count*recordSize)
	_, _ = source.Read(all) // never fails
	values := make(payloads, count)
	for i := range values {
		values[i] = all[i*recordSize : (i+1)*recordSize : (i+1)*recordSize]
	}
	return values
}

// slab hands out records that were allocated together: one by one they would keep the garbage collector busy with the client's work.
type slab struct {
	topic     string
	partition int32
	values    payloads
	free      []kgo.Record
	given     int
}

func (s *slab) next() *kgo.Record {
	if len(s.free) == 0 {
		s.free = make([]kgo.Record, 1024)
	}
	record := &s.free[0]
	s.free = s.free[1:]
	record.Topic, record.Partition, record.Value = s.topic, s.partition, s.values[s.given%len(s.values)]
	s.given++
	return record
}
