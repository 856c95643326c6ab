package api_test

import (
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/internal/api"
	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
)

const notAsked int32 = -1 << 31

func metadataRequest(version int16, names ...string) *kmsg.MetadataRequest {
	request := kmsg.NewPtrMetadataRequest()
	request.Version = version
	request.Topics = []kmsg.MetadataRequestTopic{}
	for _, name := range names {
		request.Topics = append(request.Topics, kmsg.MetadataRequestTopic{Topic: &name})
	}
	return request
}

func names(response *kmsg.MetadataResponse) []string {
	var all []string
	for _, topic := range response.Topics {
		if topic.Topic == nil {
			all = append(all, "(null)")
		} else {
			all = append(all, *topic.Topic)
		}
	}
	return all
}

func TestMetadataEveryVersion(t *testing.T) {
	b := newBench(t)
	topic := b.topic("t", 2)
	for version := range int16(13) {
		response := ask[*kmsg.MetadataResponse](b, metadataRequest(version, "t"))
		if len(response.Brokers) != 1 || response.Brokers[0].NodeID != nodeID || response.Brokers[0].Host != host || response.Brokers[0].Port != port {
			t.Errorf("v%d: brokers %+v", version, response.Brokers)
		}
		if version >= 1 && (response.ControllerID != nodeID || response.Brokers[0].Rack == nil || *response.Brokers[0].Rack != "zone-a") {
			t.Errorf("v%d: controller %d, brokers %+v", version, response.ControllerID, response.Brokers)
		}
		if version >= 2 && (response.ClusterID == nil || *response.ClusterID == "") {
			t.Errorf("v%d: no cluster id", version)
		}
		row := response.Topics[0]
		if row.ErrorCode != 0 || len(row.Partitions) != 2 || version >= 10 && row.TopicID != topic.ID {
			t.Fatalf("v%d: %+v", version, row)
		}
		for i, partition := range row.Partitions {
			epoch := int32(b.partition(topic, int32(i)).Epoch())
			if partition.ErrorCode != 0 || partition.Partition != int32(i) || partition.Leader != nodeID || version >= 7 && partition.LeaderEpoch != epoch ||
				!slices.Equal(partition.Replicas, []int32{nodeID}) || !slices.Equal(partition.ISR, []int32{nodeID}) || len(partition.OfflineReplicas) > 0 {
				t.Errorf("v%d: partition %+v", version, partition)
			}
		}
		if version >= 8 && row.AuthorizedOperations != notAsked {
			t.Errorf("v%d: operations that were not asked for: %d", version, row.AuthorizedOperations)
		}
	}
}

func TestMetadataOfAllTopics(t *testing.T) {
	b := newBench(t, func(s *setup) { s.authorizer = denied{"secret": true} })
	for _, name := range []string{"b", "a", "secret", "__consumer_offsets"} {
		b.topic(name, 1)
	}
	all := []string{"__consumer_offsets", "a", "b"}
	null := metadataRequest(12)
	null.Topics = nil
	old := metadataRequest(0)
	if got := names(ask[*kmsg.MetadataResponse](b, null)); !slices.Equal(got, all) {
		t.Errorf("v12 with null: %v", got)
	}
	if got := names(ask[*kmsg.MetadataResponse](b, old)); !slices.Equal(got, all) {
		t.Errorf("v0 with an empty list: %v", got)
	}
	if got := names(ask[*kmsg.MetadataResponse](b, metadataRequest(1))); len(got) > 0 {
		t.Errorf("v1 with an empty list: %v", got)
	}
	if rows := ask[*kmsg.MetadataResponse](b, null).Topics; !rows[0].IsInternal || rows[1].IsInternal {
		t.Errorf("internal: %+v", rows)
	}
}

func TestMetadataOfNamedTopics(t *testing.T) {
	b := newBench(t, func(s *setup) { s.authorizer = denied{"secret": true, "hidden": true} })
	topic := b.topic("t", 1)
	b.topic("secret", 1)
	byID := metadataRequest(12)
	byID.Topics = []kmsg.MetadataRequestTopic{{TopicID: topic.ID}, {TopicID: [16]byte{9}}, {TopicID: topic.ID}}
	early := metadataRequest(11, "t")
	early.Topics[0].TopicID = topic.ID
	nameless := metadataRequest(10, "t")
	nameless.Topics = append(nameless.Topics, kmsg.MetadataRequestTopic{})
	neither := metadataRequest(12)
	neither.Topics = []kmsg.MetadataRequestTopic{{}}
	cases := []struct {
		name    string
		request *kmsg.MetadataRequest
		names   []string
		codes   []int16
	}{
		{"twice", metadataRequest(12, "t", "missing", "t"), []string{"t", "missing"}, []int16{0, 3}},
		{"invalid", metadataRequest(12, "a/b", "..", ""), []string{"a/b", "..", ""}, []int16{17, 17, 17}},
		{"not allowed, existing or not", metadataRequest(12, "secret", "hidden"), []string{"secret", "hidden"}, []int16{29, 29}},
		{"by id", byID, []string{"t", "(null)"}, []int16{0, 100}},
		{"by id before v12", early, []string{"t"}, []int16{42}},
		{"null name before v12", nameless, []string{"t", ""}, []int16{42, 42}},
		{"neither name nor id", neither, []string{""}, []int16{42}},
		{"internal topics are not created", metadataRequest(12, "__consumer_offsets", "__cluster_metadata"), []string{"__consumer_offsets", "__cluster_metadata"}, []int16{3, 3}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.request.AllowAutoTopicCreation = c.name == "invalid" || c.name == "internal topics are not created"
			response := ask[*kmsg.MetadataResponse](b, c.request)
			var codes []int16
			for _, row := range response.Topics {
				codes = append(codes, row.ErrorCode)
			}
			if got := names(response); !slices.Equal(got, c.names) || !slices.Equal(codes, c.codes) {
				t.Errorf("topics %v, codes %v", got, codes)
			}
			if len(response.Brokers) == 0 {
				t.Error("no brokers")
			}
		})
	}
}

func TestMetadataCreatesTopics(t *testing.T) {
	cases := []struct {
		name    string
		version int16
		broker  bool
		allowed bool
		created bool
	}{
		{"both allow", 12, true, true, true},
		{"the client does not", 12, true, false, false},
		{"the broker does not", 12, false, true, false},
		{"old clients cannot say", 3, true, false, true},
		{"v4 can say", 4, true, false, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, func(s *setup) { s.config.Topics.AutoCreate = c.broker })
			request := metadataRequest(c.version, "fresh")
			request.AllowAutoTopicCreation = c.allowed
			row := ask[*kmsg.MetadataResponse](b, request).Topics[0]
			if !c.created {
				if _, exists := b.catalog.Snapshot().ByName("fresh"); exists || row.ErrorCode != 3 {
					t.Errorf("row %+v, exists %t", row, exists)
				}
				return
			}
			if row.ErrorCode != 0 || len(row.Partitions) != 2 || row.Partitions[1].Leader != nodeID || row.Partitions[1].ErrorCode != 0 {
				t.Errorf("the first answer is not usable: %+v", row)
			}
			b.write("fresh", 1, "a")
		})
	}
}

// A client whose unknown topics have to wait behind a change that hangs is told of the others.
func TestMetadataDoesNotWaitForAHungChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, goOn := hungBench(t, func(s *setup) { s.config.Topics.AutoCreate = true })
		first := make(chan *kmsg.CreateTopicsResponse, 1)
		go func() { first <- b.create(createRequest(7, wantTopic("first", 1, 1))) }()
		synctest.Wait()
		began := time.Now()
		request := metadataRequest(12, "second", "third", "a/b")
		request.AllowAutoTopicCreation = true
		rows := ask[*kmsg.MetadataResponse](b, request).Topics
		if rows[0].ErrorCode != kerr.LeaderNotAvailable.Code || rows[1].ErrorCode != kerr.LeaderNotAvailable.Code || rows[2].ErrorCode != kerr.InvalidTopicException.Code {
			t.Errorf("rows %+v", rows)
		}
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("answered after %v", took)
		}
		goOn()
		<-first
	})
}

func TestMetadataCreatesWithinTheRules(t *testing.T) {
	b := newBench(t)
	b.topic("a.b", 1)
	request := metadataRequest(12, "a_b")
	request.AllowAutoTopicCreation = true
	if row := ask[*kmsg.MetadataResponse](b, request).Topics[0]; row.ErrorCode != 17 {
		t.Errorf("a name that collides: %+v", row)
	}
}

func TestMetadataOfAPartitionWithoutLeader(t *testing.T) {
	for name, wrap := range map[string]func(api.Partitions) api.Partitions{
		"taking over": func(p api.Partitions) api.Partitions { return takingOver{p} },
		"unavailable": func(p api.Partitions) api.Partitions { return unavailable{p} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, func(s *setup) { s.wrap = func(_ *setup, p api.Partitions) api.Partitions { return wrap(p) } })
				b.topic("t", 1)
				row := ask[*kmsg.MetadataResponse](b, metadataRequest(12, "t")).Topics[0]
				partition := row.Partitions[0]
				if row.ErrorCode != 0 || partition.ErrorCode != 5 || partition.Leader != -1 || len(partition.ISR) > 0 || !slices.Equal(partition.OfflineReplicas, []int32{nodeID}) {
					t.Errorf("row %+v", row)
				}
				began := time.Now()
				request := metadataRequest(12, "fresh")
				request.AllowAutoTopicCreation = true
				if row := ask[*kmsg.MetadataResponse](b, request).Topics[0]; row.ErrorCode != 0 || row.Partitions[0].ErrorCode != 5 {
					t.Errorf("a new topic: %+v", row)
				}
				if took := time.Since(began); took > 5*time.Second {
					t.Errorf("answered after %v", took)
				}
			})
		})
	}
}

// TestRecreatedTopicKeepsItsEpochsGrowing: clients ignore the new topic's metadata if its leader epoch is not above the one they saw.
func TestRecreatedTopicKeepsItsEpochsGrowing(t *testing.T) {
	b := newBench(t)
	before := b.topic("t", 1)
	old := ask[*kmsg.MetadataResponse](b, metadataRequest(12, "t")).Topics[0]
	must(t, b.topics.DeleteTopic(t.Context(), before.Name))
	b.topic("t", 1)
	fresh := ask[*kmsg.MetadataResponse](b, metadataRequest(12, "t")).Topics[0]
	if fresh.TopicID == old.TopicID || fresh.Partitions[0].LeaderEpoch <= old.Partitions[0].LeaderEpoch {
		t.Errorf("before %+v, after %+v", old, fresh)
	}
}

func TestAuthorizedOperations(t *testing.T) {
	b := newBench(t)
	b.topic("t", 1)
	for version := int16(8); version <= 12; version++ {
		request := metadataRequest(version, "t", "missing")
		request.IncludeClusterAuthorizedOperations, request.IncludeTopicAuthorizedOperations = true, true
		response := ask[*kmsg.MetadataResponse](b, request)
		if response.Topics[0].AuthorizedOperations != 3576 || version <= 10 && response.AuthorizedOperations != 8096 {
			t.Errorf("v%d: topic %d, cluster %d", version, response.Topics[0].AuthorizedOperations, response.AuthorizedOperations)
		}
	}
}

func TestDescribeCluster(t *testing.T) {
	b := newBench(t)
	cases := []struct {
		name       string
		version    int16
		endpoint   int8
		asked      bool
		code       int16
		operations int32
	}{
		{"v0", 0, 1, false, 0, notAsked},
		{"v1", 1, 1, true, 0, 8096},
		{"v2", 2, 1, true, 0, 8096},
		{"controllers", 1, 2, true, 114, notAsked},
		{"something else", 2, 7, true, 115, notAsked},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			request := kmsg.NewPtrDescribeClusterRequest()
			request.Version, request.EndpointType, request.IncludeClusterAuthorizedOperations = c.version, c.endpoint, c.asked
			response := ask[*kmsg.DescribeClusterResponse](b, request)
			if response.ErrorCode != c.code || response.ClusterAuthorizedOperations != c.operations {
				t.Errorf("response %+v", response)
			}
			if served := len(response.Brokers) == 1 && response.Brokers[0].Host == host && response.ControllerID == nodeID && response.ClusterID != ""; served != (c.code == 0) {
				t.Errorf("response %+v", response)
			}
		})
	}
}

func TestInitProducerID(t *testing.T) {
	b := groupBench(t)
	id, empty := "id", ""
	timeout := int32(60_000)
	ask := func(version int16, transactional *string, producer int64, epoch int16) *kmsg.InitProducerIDResponse {
		request := kmsg.NewPtrInitProducerIDRequest()
		request.Version, request.TransactionalID, request.TransactionTimeoutMillis = version, transactional, timeout
		request.ProducerID, request.ProducerEpoch = producer, epoch
		return ask[*kmsg.InitProducerIDResponse](b, request)
	}
	seen := map[int64]bool{}
	for version := range int16(5) {
		response := ask(version, nil, -1, -1)
		if response.ErrorCode != 0 || response.ProducerEpoch != 0 || seen[response.ProducerID] {
			t.Errorf("v%d: %+v", version, response)
		}
		seen[response.ProducerID] = true
	}
	cases := []struct {
		name          string
		transactional *string
		producer      int64
		epoch         int16
		code          int16
	}{
		{"empty transactional id", &empty, -1, -1, 42},
		{"producer id without epoch", nil, 5, -1, 42},
		{"epoch without producer id", nil, -1, 5, 42},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if response := ask(4, c.transactional, c.producer, c.epoch); response.ErrorCode != c.code || response.ProducerID != -1 || response.ProducerEpoch != -1 {
				t.Errorf("response %+v", response)
			}
		})
	}
	for _, timeout = range []int32{0, -1, 900_001} {
		if response := ask(4, &id, -1, -1); response.ErrorCode != 50 {
			t.Errorf("timeout of %d ms: %+v", timeout, response)
		}
		if response := ask(4, nil, -1, -1); response.ErrorCode != 0 {
			t.Errorf("timeout of %d ms without a transaction: %+v", timeout, response)
		}
	}
}

func TestDescribeTopicPartitions(t *testing.T) {
	b := newBench(t, func(s *setup) { s.authorizer = denied{"secret": true} })
	topics := map[string]*catalog.Topic{}
	for name, count := range map[string]int32{"a": 2, "b": 3, "c": 1, "secret": 1} {
		topics[name] = b.topic(name, count)
	}
	page := func(limit int32, cursor *kmsg.DescribeTopicPartitionsRequestCursor, names ...string) *kmsg.DescribeTopicPartitionsResponse {
		request := kmsg.NewPtrDescribeTopicPartitionsRequest()
		request.ResponsePartitionLimit, request.Cursor = limit, cursor
		for _, name := range names {
			request.Topics = append(request.Topics, kmsg.DescribeTopicPartitionsRequestTopic{Topic: name})
		}
		return ask[*kmsg.DescribeTopicPartitionsResponse](b, request)
	}
	// Pages of two partitions walk over everything once.
	var walked []string
	var cursor *kmsg.DescribeTopicPartitionsRequestCursor
	for range 10 {
		response := page(2, cursor)
		for _, topic := range response.Topics {
			if topic.TopicID != topics[*topic.Topic].ID || topic.AuthorizedOperations != 3576 {
				t.Errorf("topic %+v", topic)
			}
			for _, partition := range topic.Partitions {
				if partition.LeaderID != nodeID || partition.LeaderEpoch < 0 {
					t.Errorf("partition %+v", partition)
				}
				walked = append(walked, *topic.Topic+strconv.Itoa(int(partition.Partition)))
			}
		}
		if response.NextCursor == nil {
			break
		}
		next := kmsg.NewDescribeTopicPartitionsRequestCursor()
		next.Topic, next.Partition = response.NextCursor.Topic, response.NextCursor.Partition
		cursor = &next
	}
	if want := []string{"a0", "a1", "b0", "b1", "b2", "c0"}; !slices.Equal(walked, want) {
		t.Errorf("walked %v, want %v", walked, want)
	}
	named := page(100, nil, "c", "missing", "a/b", "secret", "c")
	var got []int16
	for _, topic := range named.Topics {
		got = append(got, topic.ErrorCode)
	}
	if want := []int16{17, 0, 3, 29}; !slices.Equal(got, want) || named.NextCursor != nil {
		t.Errorf("codes %v, want %v", got, want)
	}
	for _, c := range []struct {
		name      string
		topic     string
		partition int32
	}{{"is not among the topics asked for", "b", 0}, {"has a negative partition", "a", -1}} {
		refused := page(100, &kmsg.DescribeTopicPartitionsRequestCursor{Topic: c.topic, Partition: c.partition}, "a", "c")
		for _, topic := range refused.Topics {
			if topic.ErrorCode != 42 || len(topic.Partitions) > 0 {
				t.Errorf("cursor that %s: %+v", c.name, topic)
			}
		}
		if len(refused.Topics) != 2 || refused.NextCursor != nil {
			t.Errorf("cursor that %s: %+v", c.name, refused)
		}
	}
}
