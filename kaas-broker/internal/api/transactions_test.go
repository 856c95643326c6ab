package api_test

import (
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/internal/api"
	"github.com/kaas-rs/kaas/kaas-coordinator"
)

func TestTransactions(t *testing.T) {
	b := groupBench(t)
	topic := b.topic("t", 2)
	first, second := b.writer("first"), b.writer("second")
	for _, w := range []*writer{first, second} {
		if codes := w.add(3, "t", 0); !slices.Equal(codes, []int16{0}) {
			t.Fatalf("add: %v", codes)
		}
		expectCode(t, "produce", w.produce("t", w.name), nil)
	}
	expectCode(t, "the group", first.addGroup(3, "workers"), nil)
	expectCode(t, "offsets", first.stage(3, "workers", "events", 5), nil)
	if row := b.fetchCommitted(topic, 0); row.LastStableOffset != 0 || row.HighWatermark != 2 || len(row.RecordBatches) != 0 || row.AbortedTransactions == nil {
		t.Errorf("while both are open: %+v", row)
	}
	expectCode(t, "commit", second.end(3, true), nil)
	second.settle()
	if row := b.fetchCommitted(topic, 0); row.LastStableOffset != 0 || len(row.RecordBatches) != 0 {
		t.Errorf("while the first is open: %+v", row)
	}
	expectCode(t, "abort", first.end(3, false), nil)
	first.settle()
	row := b.fetchCommitted(topic, 0)
	if got := values(t, row.RecordBatches); row.LastStableOffset != 4 || !slices.Equal(got[:2], []string{"first", "second"}) {
		t.Errorf("at last: %+v, %q", row, got)
	}
	if aborted := row.AbortedTransactions; len(aborted) != 1 || aborted[0].ProducerID != first.id || aborted[0].FirstOffset != 0 {
		t.Errorf("aborted: %+v", aborted)
	}
	if late := b.fetchCommitted(topic, 3).AbortedTransactions; len(late) != 1 {
		t.Errorf("aborted at the marker: %+v", late)
	}
	if state := b.describeTransaction("first"); state.State != "CompleteAbort" || len(state.Topics) != 0 || state.TimeoutMillis != 60_000 {
		t.Errorf("described: %+v", state)
	}
}

func TestDescribeAndListTransactions(t *testing.T) {
	b := groupBench(t)
	b.topic("t", 2)
	w := b.writer("open")
	w.add(3, "t", 1, 0)
	expectCode(t, "produce", w.produce("t", "x", "y"), nil)
	b.writer("idle")
	state := b.describeTransaction("open")
	if state.State != "Ongoing" || state.ProducerID != w.id || state.StartTimestamp <= 0 || len(state.Topics) != 1 || !slices.Equal(state.Topics[0].Partitions, []int32{0, 1}) {
		t.Errorf("described: %+v", state)
	}
	expectCode(t, "unknown", b.describeTransaction("nobody").ErrorCode, kerr.TransactionalIDNotFound)
	list := kmsg.NewPtrListTransactionsRequest()
	list.StateFilters = []string{"Ongoing", "Nonsense", "Nonsense"}
	listed := ask[*kmsg.ListTransactionsResponse](b, list)
	if rows := listed.TransactionStates; len(rows) != 1 || rows[0].TransactionalID != "open" || !slices.Equal(listed.UnknownStateFilters, []string{"Nonsense"}) {
		t.Errorf("listed: %+v", listed)
	}
	producers := kmsg.NewPtrDescribeProducersRequest()
	producers.Topics = []kmsg.DescribeProducersRequestTopic{{Topic: "t", Partitions: []int32{0, 1, 2}}, {Topic: "missing", Partitions: []int32{0}}}
	described := ask[*kmsg.DescribeProducersResponse](b, producers)
	partitions := described.Topics[0].Partitions
	if active := partitions[0].ActiveProducers; len(active) != 1 || active[0].ProducerID != w.id || active[0].LastSequence != 1 || active[0].CurrentTxnStartOffset != 0 || active[0].CoordinatorEpoch != -1 {
		t.Errorf("producers: %+v", active)
	}
	if len(partitions[1].ActiveProducers) != 0 || partitions[2].ErrorCode != kerr.UnknownTopicOrPartition.Code || described.Topics[1].Partitions[0].ErrorCode != kerr.UnknownTopicOrPartition.Code {
		t.Errorf("producers: %+v", described.Topics)
	}
}

func markersOf(version int16, w *writer, epoch int16, coordinator int32, topic string) *kmsg.WriteTxnMarkersRequest {
	request := kmsg.NewPtrWriteTxnMarkersRequest()
	request.Version = version
	request.Markers = []kmsg.WriteTxnMarkersRequestMarker{{
		ProducerID: w.id, ProducerEpoch: epoch, CoordinatorEpoch: coordinator,
		Topics: []kmsg.WriteTxnMarkersRequestMarkerTopic{{Topic: topic, Partitions: []int32{0}}},
	}}
	return request
}

func TestWriteTxnMarkers(t *testing.T) {
	b := groupBench(t)
	topic := b.topic("t", 1)
	b.writer("w")
	w := b.writer("w")
	w.add(3, "t", 0)
	expectCode(t, "produce", w.produce("t", "x"), nil)
	write := func(epoch int16, coordinator int32, topic string) int16 {
		return ask[*kmsg.WriteTxnMarkersResponse](b, markersOf(1, w, epoch, coordinator, topic)).Markers[0].Topics[0].Partitions[0].ErrorCode
	}
	expectCode(t, "unknown topic", write(w.epoch, 9, "missing"), kerr.UnknownTopicOrPartition)
	expectCode(t, "old epoch", write(w.epoch-1, 9, "t"), kerr.InvalidProducerEpoch)
	expectCode(t, "abort", write(w.epoch, 9, "t"), nil)
	if row := b.fetchCommitted(topic, 0); row.LastStableOffset != 2 || len(row.AbortedTransactions) != 1 {
		t.Errorf("after the abort: %+v", row)
	}
	expectCode(t, "old coordinator", write(w.epoch, 8, "t"), kerr.TransactionCoordinatorFenced)
	expectCode(t, "abort again", write(w.epoch, 9, "t"), nil)
	several := markersOf(1, w, w.epoch, 9, "t")
	several.Markers[0].Topics[0].Partitions = []int32{0, 0, 7, 0}
	end := b.partition(topic, 0).Offsets().LogEnd
	var codes []int16
	for _, row := range ask[*kmsg.WriteTxnMarkersResponse](b, several).Markers[0].Topics[0].Partitions {
		codes = append(codes, row.ErrorCode)
	}
	if wrote := b.partition(topic, 0).Offsets().LogEnd - end; wrote != 1 || !slices.Equal(codes, []int16{0, 0, 3, 0}) {
		t.Errorf("a partition named three times: %d markers, codes %v", wrote, codes)
	}
}

// One request is of one producer: with batches of a second one it is refused as a whole, plain batches included.
func TestProduceInTransactionsOfTwoProducers(t *testing.T) {
	b := groupBench(t)
	topic := b.topic("t", 3)
	first, second := b.writer("first"), b.writer("second")
	first.add(3, "t", 0)
	second.add(3, "t", 1)
	request, other := first.produceRequest("t", "x"), second.produceRequest("t", "y")
	batch := other.Topics[0].Partitions[0]
	batch.Partition = 1
	request.Topics[0].Partitions = append(request.Topics[0].Partitions, batch, kmsg.ProduceRequestTopicPartition{Partition: 2, Records: records(t, "plain")})
	for _, row := range ask[*kmsg.ProduceResponse](b, request).Topics[0].Partitions {
		expectCode(t, "produce", row.ErrorCode, kerr.InvalidProducerIDMapping)
		if end := b.partition(topic, row.Partition).Offsets().LogEnd; end != 0 {
			t.Errorf("partition %d has %d records", row.Partition, end)
		}
	}
}

// A producer that was replaced is told so in words that its version knows.
func TestFencedProducers(t *testing.T) {
	b := groupBench(t)
	b.topic("t", 1)
	old := b.writer("w")
	b.writer("w")
	for version := range int16(5) {
		fenced := kerr.ProducerFenced
		if version < 2 {
			fenced = kerr.InvalidProducerEpoch
		}
		expectCode(t, "partitions", old.add(version, "t", 0)[0], fenced)
		if version < 4 {
			expectCode(t, "group", old.addGroup(version, "workers"), fenced)
			expectCode(t, "end", old.end(version, true), fenced)
			expectCode(t, "offsets", old.stage(version, "workers", "events", 1), kerr.InvalidProducerEpoch)
		}
		if version >= 3 {
			request := initRequest(version, "w")
			request.ProducerID, request.ProducerEpoch = old.id, old.epoch
			b.writer("w") // so that it is no repetition
			want := map[int16]*kerr.Error{3: kerr.InvalidProducerEpoch, 4: kerr.ProducerFenced}[version]
			expectCode(t, "init", ask[*kmsg.InitProducerIDResponse](b, request).ErrorCode, want)
		}
	}
	expectCode(t, "produce", old.produce("t", "x"), kerr.InvalidProducerEpoch)
}

func TestAddPartitionsToTxnAllOrNothing(t *testing.T) {
	b := groupBench(t)
	b.topic("t", 2)
	w := b.writer("w")
	for version := range int16(5) {
		if codes := w.add(version, "t", 0, 2); !slices.Equal(codes, []int16{kerr.OperationNotAttempted.Code, kerr.UnknownTopicOrPartition.Code}) {
			t.Errorf("v%d: %v", version, codes)
		}
	}
	if state := b.describeTransaction("w").State; state != "Empty" {
		t.Errorf("what was refused has begun a transaction: %s", state)
	}
	request := w.addRequest(4, "t", 0)
	request.Transactions[0].VerifyOnly = true
	response := ask[*kmsg.AddPartitionsToTxnResponse](b, request)
	expectCode(t, "verification", response.Transactions[0].Topics[0].Partitions[0].ErrorCode, kerr.InvalidTxnState)
}

func TestProduceAsksTheCoordinator(t *testing.T) {
	cases := []struct {
		name string
		err  error
		want *kerr.Error
	}{
		{"loading", coordinator.ErrLoading, kerr.NotEnoughReplicas},
		{"elsewhere", coordinator.ErrNotCoordinator, kerr.NotEnoughReplicas},
		{"ending", coordinator.ErrConcurrentTransactions, kerr.NotEnoughReplicas},
		{"fenced", coordinator.ErrProducerFenced, kerr.InvalidProducerEpoch},
		{"unknown", coordinator.ErrInvalidProducerIDMapping, kerr.InvalidProducerIDMapping},
		{"not part of it", coordinator.ErrInvalidTransactionState, kerr.InvalidTxnState},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := groupBench(t, func(s *setup) {
				s.transactions = func(inner api.Transactions) api.Transactions { return sometimes{inner, &c.err} }
			})
			b.topic("t", 1)
			expectCode(t, "produce", b.writer("w").produce("t", "x"), c.want)
			if row := b.produce("t", 0, records(t, "plain")); row.BaseOffset != 0 {
				t.Errorf("what was refused is in the log: %+v", row)
			}
		})
	}
	t.Run("a batch behind one that could not be verified", func(t *testing.T) {
		verdict := coordinator.ErrLoading
		b := groupBench(t, func(s *setup) {
			s.transactions = func(inner api.Transactions) api.Transactions { return sometimes{inner, &verdict} }
		})
		b.topic("t", 1)
		w := b.writer("w")
		w.add(3, "t", 0)
		expectCode(t, "the first", w.produce("t", "x"), kerr.NotEnoughReplicas)
		verdict = nil
		w.sequence = 1
		expectCode(t, "the second", w.produce("t", "y"), kerr.OutOfOrderSequenceNumber)
		w.sequence = 0
		expectCode(t, "the first again", w.produce("t", "x"), nil)
		expectCode(t, "the second again", w.produce("t", "y"), nil)
	})
	t.Run("a partition that is taken over meanwhile", func(t *testing.T) {
		looked := true
		b := groupBench(t, func(s *setup) {
			s.wrap = func(_ *setup, p api.Partitions) api.Partitions { return takenMeanwhile{p, &looked} }
		})
		b.topic("t", 1)
		w := b.writer("w")
		w.add(3, "t", 0)
		looked = false
		expectCode(t, "while it is taken over", w.produce("t", "x"), kerr.NotLeaderForPartition)
		expectCode(t, "after that", w.produce("t", "x"), nil)
	})
	t.Run("a partition whose leadership changes while its transaction is open", func(t *testing.T) {
		looked := false
		anew := &ledAnewMeanwhile{looked: &looked}
		b := groupBench(t, func(s *setup) {
			s.wrap = func(_ *setup, p api.Partitions) api.Partitions {
				anew.Partitions = p
				return anew
			}
		})
		b.topic("t", 1)
		w := b.writer("w")
		w.add(3, "t", 0)
		expectCode(t, "the first batch", w.produce("t", "x"), nil)
		// Where the first batch was lost with its leadership, the next must not be told that it is in no transaction: that ends the producer.
		anew.next, looked = b.topic("another-leadership", 1), false
		expectCode(t, "the second batch", w.produce("t", "x"), nil)
	})
	t.Run("switched off", func(t *testing.T) {
		b := groupBench(t, brokerValues(t, "transaction.partition.verification.enable=false"), func(s *setup) {
			s.transactions = func(inner api.Transactions) api.Transactions {
				return sometimes{inner, &coordinator.ErrInvalidTransactionState}
			}
		})
		b.topic("t", 1)
		expectCode(t, "produce", b.writer("w").produce("t", "x"), nil)
	})
}

func TestTransactionsNeedRights(t *testing.T) {
	for _, c := range []struct {
		name                                                 string
		kind                                                 kmsg.ACLResourceType
		init, add, addV4, group, offsets, end, mark, produce *kerr.Error
	}{
		{
			"transactional ids", kmsg.ACLResourceTypeTransactionalId,
			kerr.TransactionalIDAuthorizationFailed, kerr.TransactionalIDAuthorizationFailed, kerr.InvalidProducerIDMapping, kerr.TransactionalIDAuthorizationFailed,
			kerr.TransactionalIDAuthorizationFailed, kerr.TransactionalIDAuthorizationFailed, nil, kerr.TransactionalIDAuthorizationFailed,
		},
		{
			"groups", kmsg.ACLResourceTypeGroup, nil, kerr.InvalidProducerIDMapping, kerr.InvalidProducerIDMapping, kerr.GroupAuthorizationFailed,
			kerr.GroupAuthorizationFailed, kerr.InvalidProducerIDMapping, nil, kerr.InvalidProducerIDMapping,
		},
		{
			"topics", kmsg.ACLResourceTypeTopic, nil, kerr.TopicAuthorizationFailed, kerr.InvalidProducerIDMapping, kerr.InvalidProducerIDMapping,
			kerr.TopicAuthorizationFailed, kerr.InvalidProducerIDMapping, nil, kerr.TopicAuthorizationFailed,
		},
		{
			"the cluster", kmsg.ACLResourceTypeCluster, nil, kerr.InvalidProducerIDMapping, kerr.ClusterAuthorizationFailed, kerr.InvalidProducerIDMapping,
			kerr.InvalidProducerIDMapping, kerr.InvalidProducerIDMapping, kerr.ClusterAuthorizationFailed, kerr.InvalidProducerIDMapping,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := groupBench(t, func(s *setup) { s.authorizer = withoutType(c.kind) })
			b.topic("t", 1)
			expectCode(t, "init", ask[*kmsg.InitProducerIDResponse](b, initRequest(4, "w")).ErrorCode, c.init)
			stranger := &writer{b: b, name: "nobody", id: 77}
			expectCode(t, "add", stranger.add(3, "t", 0)[0], c.add)
			response := ask[*kmsg.AddPartitionsToTxnResponse](b, stranger.addRequest(4, "t", 0))
			code := response.ErrorCode
			if len(response.Transactions) > 0 {
				code = response.Transactions[0].Topics[0].Partitions[0].ErrorCode
			}
			expectCode(t, "add v4", code, c.addV4)
			expectCode(t, "group", stranger.addGroup(3, "workers"), c.group)
			expectCode(t, "offsets", stranger.stage(3, "workers", "t", 1), c.offsets)
			expectCode(t, "end", stranger.end(3, true), c.end)
			marked := ask[*kmsg.WriteTxnMarkersResponse](b, markersOf(1, stranger, 0, 0, "t")).Markers[0].Topics[0].Partitions[0].ErrorCode
			expectCode(t, "mark", marked, c.mark)
			expectCode(t, "produce", stranger.produce("t", "x"), c.produce)
		})
	}
}

func TestDescriptionsOfTransactionsNeedRights(t *testing.T) {
	b := groupBench(t, func(s *setup) { s.authorizer = writeOnly{} })
	b.topic("t", 1)
	w := b.writer("w")
	w.add(3, "t", 0)
	expectCode(t, "describe", b.describeTransaction("w").ErrorCode, kerr.TransactionalIDAuthorizationFailed)
	if listed := ask[*kmsg.ListTransactionsResponse](b, kmsg.NewPtrListTransactionsRequest()); len(listed.TransactionStates) != 0 {
		t.Errorf("listed: %+v", listed)
	}
	find := kmsg.NewPtrFindCoordinatorRequest()
	find.Version, find.CoordinatorType, find.CoordinatorKeys = 4, 1, []string{"w"}
	expectCode(t, "find", ask[*kmsg.FindCoordinatorResponse](b, find).Coordinators[0].ErrorCode, kerr.TransactionalIDAuthorizationFailed)
	producers := kmsg.NewPtrDescribeProducersRequest()
	producers.Topics = []kmsg.DescribeProducersRequestTopic{{Topic: "t", Partitions: []int32{0}}}
	expectCode(t, "producers", ask[*kmsg.DescribeProducersResponse](b, producers).Topics[0].Partitions[0].ErrorCode, kerr.TopicAuthorizationFailed)
}
