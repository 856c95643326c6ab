package transcripts

import (
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func initProducerIDScript(t *Talk) {
	fresh := kmsg.NewPtrInitProducerIDRequest()
	fresh.TransactionTimeoutMillis = 60000
	newProducer(t)
	t.AskEach("a new producer", 0, 4, fresh)
	for _, timeout := range []int32{0, -1, 2147483647} {
		request := kmsg.NewPtrInitProducerIDRequest()
		request.TransactionTimeoutMillis = timeout
		t.Ask("a new producer with a timeout of "+strconv.Itoa(int(timeout)), 4, request)
	}
	for _, c := range []struct {
		name     string
		producer int64
		epoch    int16
	}{{"a producer id and an epoch", 5, 1}, {"a producer id without an epoch", 5, -1}, {"an epoch without a producer id", -1, 1}, {"a negative producer id", -2, -1}} {
		request := kmsg.NewPtrInitProducerIDRequest()
		request.TransactionTimeoutMillis = 60000
		request.ProducerID, request.ProducerEpoch = c.producer, c.epoch
		t.AskEach(c.name, 3, 4, request)
	}
	empty := kmsg.NewPtrInitProducerIDRequest()
	empty.TransactionalID, empty.TransactionTimeoutMillis = new(""), 60000
	t.AskEach("an empty transactional id", 0, 4, empty)
	for _, timeout := range []int32{0, -1, 900001} {
		request := kmsg.NewPtrInitProducerIDRequest()
		request.TransactionalID, request.TransactionTimeoutMillis = new("init-producer-id"), timeout
		t.AskEach("a transactional id with a timeout of "+strconv.Itoa(int(timeout)), 0, 4, request)
	}
	half := kmsg.NewPtrInitProducerIDRequest()
	half.TransactionalID, half.TransactionTimeoutMillis, half.ProducerID = new("init-producer-id"), 60000, 5
	t.AskEach("a transactional id with a producer id without an epoch", 3, 4, half)
}
