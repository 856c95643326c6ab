package transcripts

import (
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// newProducer asks again while Apache Kafka is busy getting a block of ids.
func newProducer(t *Talk) int64 {
	request := kmsg.NewPtrInitProducerIDRequest()
	request.TransactionTimeoutMillis = 60000
	for {
		response := t.Prepare(4, request).(*kmsg.InitProducerIDResponse)
		if response.ErrorCode == 0 {
			return response.ProducerID
		}
		if response.ErrorCode != kerr.CoordinatorLoadInProgress.Code {
			t.test.Fatal(kerr.ErrorForCode(response.ErrorCode))
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func produceIdempotentScript(t *Talk) {
	const name = "produce-idempotent"
	t.Topic(name, 2, forever)
	id := newProducer(t)
	for _, step := range []struct {
		name     string
		epoch    int16
		sequence int32
		count    int
	}{
		{"the first batch", 0, 0, 2},
		{"the first batch again", 0, 0, 2},
		{"the second batch", 0, 2, 3},
		{"the first batch after the second", 0, 0, 2},
		{"a gap", 0, 7, 1},
		{"a batch that overlaps", 0, 4, 2},
		{"a batch that ends like one before", 0, 3, 2},
		{"a batch that begins like one before", 0, 2, 2},
		{"the third batch", 0, 5, 1},
		{"the fourth batch", 0, 6, 1},
		{"the fifth batch", 0, 7, 1},
		{"the sixth batch", 0, 8, 1},
		{"the second batch when five are known", 0, 2, 3},
		{"the first batch when it is forgotten", 0, 0, 2},
		{"a higher epoch with a sequence above 0", 1, 3, 1},
		{"a higher epoch", 1, 0, 1},
		{"a higher epoch again", 1, 0, 1},
		{"a lower epoch", 0, 9, 1},
		{"a lower epoch that starts anew", 0, 0, 1},
		{"the highest epoch", 32767, 0, 1},
	} {
		t.Ask(step.name, 9, produceTo(name, idempotent(id, step.epoch, step.sequence, step.count)))
	}
	stranger := newProducer(t)
	t.Ask("a first sequence above 0 of an unknown producer", 9, produceTo(name, idempotent(stranger, 0, 50, 2)))
	t.Ask("the next batch of that producer", 9, produceTo(name, idempotent(stranger, 0, 52, 1)))
	t.Ask("an epoch above 0 of an unknown producer", 9, produceTo(name, idempotent(newProducer(t), 3, 0, 1)))
	wrapping := newProducer(t)
	t.Ask("a sequence at its largest", 9, produceTo(name, idempotent(wrapping, 0, 2147483646, 3)))
	t.Ask("a sequence that has wrapped", 9, produceTo(name, idempotent(wrapping, 0, 1, 1)))
	t.Ask("with acks of the leader", 9, produce(1, name, 1, idempotent(id, 0, 0, 1)))
	t.Ask("a negative epoch", 9, produceTo(name, idempotent(id, -1, 0, 1)))
	t.Ask("a negative sequence", 9, produceTo(name, idempotent(id, 0, -1, 1)))
	t.Ask("everything deleted", 2, deleteRecords(name, 0, -1))
	t.Ask("a gap after everything was deleted", 9, produceTo(name, idempotent(stranger, 0, 60, 1)))
	t.Ask("the next batch after everything was deleted", 9, produceTo(name, idempotent(stranger, 0, 53, 1)))
	t.Ask("a duplicate at an old version", 3, produceTo(name, idempotent(stranger, 0, 53, 1)))
	t.Ask("what was stored", 11, fetchFrom(name, 17))
}
