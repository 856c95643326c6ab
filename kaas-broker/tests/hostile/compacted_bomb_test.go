package hostile

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

// Nobody looks into batches that are stored while a topic is not compacted, so that a later compaction meets bombs of any size. It begins with those that
// can be read, whose keys it replaces, and goes on over those that are above its limit.
func TestCompactedBombs(t *testing.T) {
	const size, rounds = bombBytes, 3
	for _, codec := range []batch.Compression{batch.Gzip, batch.Zstd} {
		t.Run(codec.String(), func(t *testing.T) {
			broker := start(t, harness.Options{
				Mode: harness.Dev, Overrides: map[string]string{"log.cleaner.backoff.ms": "100"}, Decodes: []string{"compaction"},
			})
			watch(t, broker, compactedBombBound)
			runBeside(t, broker.Bootstrap())
			createTopic(t, broker.Bootstrap(), "bombed", 1, "segment.bytes", "100", "min.cleanable.dirty.ratio", "0", "max.message.bytes", "10000000")
			connection := dial(t, broker.Bootstrap())
			connection.store(t, "bombed", keyedBomb(t, codec, 1000*mib, "above the limit"))
			for round := range rounds {
				connection.store(t, "bombed", keyedBomb(t, codec, size, "again", fmt.Sprint("once ", round)))
			}
			connection.store(t, "bombed", keyedBomb(t, batch.None, 100, "filler"))
			alterTopic(t, connection, "bombed", "cleanup.policy", "compact")
			for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
				records := recordsAt(t, connection, "bombed")
				if records[1] == 1 && records[3] == 1 {
					if records[0] != 1 {
						t.Errorf("the batch above the limit has gone: records by offset %v", records)
					}
					return
				}
				if time.Now().After(deadline) {
					t.Fatalf("not compacted: records by offset %v", records)
				}
			}
		})
	}
}

// compactedBombBound is what a compaction may take: of one batch at a time, what it becomes and what is made of it.
const compactedBombBound = 768 * mib

// keyedBomb is a batch of one record of zeros for each key, of so many bytes together.
func keyedBomb(t *testing.T, codec batch.Compression, size int, keys ...string) []byte {
	t.Helper()
	builder := batch.NewBuilder()
	builder.Compression = codec
	value := make([]byte, size/len(keys))
	for _, key := range keys {
		builder.Add(time.Now().UnixMilli(), []byte(key), value)
	}
	made, err := builder.Build()
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Clone(made)
}

// alterTopic sets one configuration of a topic.
func alterTopic(t *testing.T, connection *raw, topic, name, value string) {
	t.Helper()
	request := kmsg.NewPtrIncrementalAlterConfigsRequest()
	request.Resources = []kmsg.IncrementalAlterConfigsRequestResource{{
		ResourceType: kmsg.ConfigResourceTypeTopic, ResourceName: topic,
		Configs: []kmsg.IncrementalAlterConfigsRequestResourceConfig{{Name: name, Value: &value}},
	}}
	response, err := connection.call(request, time.Minute)
	if err == nil {
		err = kerr.ErrorForCode(response.(*kmsg.IncrementalAlterConfigsResponse).Resources[0].ErrorCode)
	}
	if err != nil {
		t.Fatalf("set %s of %s: %v", name, topic, err)
	}
}

// recordsAt is how many records each batch has, by its base offset.
func recordsAt(t *testing.T, connection *raw, topic string) map[int64]int32 {
	t.Helper()
	counts := map[int64]int32{}
	for next := int64(0); ; {
		response, err := connection.call(fetchRequest(12, topic, next), time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		partition := response.(*kmsg.FetchResponse).Topics[0].Partitions[0]
		if err := kerr.ErrorForCode(partition.ErrorCode); err != nil {
			t.Fatal(err)
		}
		if next >= partition.HighWatermark {
			return counts
		}
		for rest := partition.RecordBatches; len(rest) > 0; {
			var one batch.Batch
			if one, rest, err = batch.Next(rest); err != nil {
				t.Fatal(err)
			}
			counts[one.BaseOffset()], next = one.Count(), one.LastOffset()+1
		}
	}
}
