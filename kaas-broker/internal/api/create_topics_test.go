package api_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/internal/api"
	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
	"github.com/kaas-rs/kaas/kaas-storage"
)

// wantTopic is a topic of a request, with configuration as pairs of name and value; a value of "<null>" is null.
func wantTopic(name string, partitions int32, replicas int16, pairs ...string) kmsg.CreateTopicsRequestTopic {
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, partitions, replicas
	for i := 0; i+1 < len(pairs); i += 2 {
		config := kmsg.NewCreateTopicsRequestTopicConfig()
		config.Name = pairs[i]
		if pairs[i+1] != "<null>" {
			config.Value = &pairs[i+1]
		}
		topic.Configs = append(topic.Configs, config)
	}
	return topic
}

// assigned adds a manual assignment: partition i of the list, then its replicas.
func assigned(topic kmsg.CreateTopicsRequestTopic, partitions ...[]int32) kmsg.CreateTopicsRequestTopic {
	for _, one := range partitions {
		assignment := kmsg.NewCreateTopicsRequestTopicReplicaAssignment()
		assignment.Partition, assignment.Replicas = one[0], one[1:]
		topic.ReplicaAssignment = append(topic.ReplicaAssignment, assignment)
	}
	return topic
}

func createRequest(version int16, topics ...kmsg.CreateTopicsRequestTopic) *kmsg.CreateTopicsRequest {
	request := kmsg.NewPtrCreateTopicsRequest()
	request.Version, request.TimeoutMillis, request.Topics = version, 10_000, topics
	return request
}

func validated(request *kmsg.CreateTopicsRequest) *kmsg.CreateTopicsRequest {
	request.ValidateOnly = true
	return request
}

func (b *bench) create(request *kmsg.CreateTopicsRequest) *kmsg.CreateTopicsResponse {
	b.t.Helper()
	return ask[*kmsg.CreateTopicsResponse](b, request)
}

func creations(response *kmsg.CreateTopicsResponse) (all []outcome) {
	for _, row := range response.Topics {
		all = append(all, outcome{row.Topic, row.ErrorCode})
	}
	return all
}

func TestCreateTopicsEveryVersion(t *testing.T) {
	b := newBench(t)
	for version := range int16(8) {
		name := fmt.Sprintf("v%d", version)
		row := b.create(createRequest(version, wantTopic(name, 3, 1, "retention.ms", " 5000 "))).Topics[0]
		topic, known := b.catalog.Snapshot().ByName(name)
		if row.ErrorCode != 0 || row.ErrorMessage != nil || !known || topic.Partitions != 3 {
			t.Fatalf("v%d: %+v", version, row)
		}
		if version >= 7 && row.TopicID != topic.ID {
			t.Errorf("v%d: topic id %x, want %s", version, row.TopicID, topic.ID)
		}
		if version < 5 {
			continue
		}
		configs := map[string]string{}
		for _, config := range row.Configs {
			configs[config.Name] = fmt.Sprint(text(config.Value), " ", config.Source, config.ReadOnly, config.IsSensitive)
		}
		if row.NumPartitions != 3 || row.ReplicationFactor != 1 || row.ConfigErrorCode != 0 || len(configs) != 31 {
			t.Errorf("v%d: partitions %d, replicas %d, %d configurations", version, row.NumPartitions, row.ReplicationFactor, len(configs))
		}
		if configs["retention.ms"] != "5000 1 false false" || configs["cleanup.policy"] != "delete 5 false false" {
			t.Errorf("v%d: %v", version, configs)
		}
	}
}

func TestCreateTopicsIsServedWhenAnswered(t *testing.T) {
	b := newBench(t)
	b.create(createRequest(7, wantTopic("t", 20, 1)))
	topic, _ := b.catalog.Snapshot().ByName("t")
	for index := range topic.Partitions {
		if _, err := b.partitions.Partition(topic, index); err != nil {
			t.Errorf("partition %d: %v", index, err)
		}
	}
}

func TestCreateTopicsJudges(t *testing.T) {
	long := strings.Repeat("n", 249)
	cases := []struct {
		name  string
		topic kmsg.CreateTopicsRequestTopic
		code  *kerr.Error
		says  string
	}{
		{"plain", wantTopic("plain", 1, 1), nil, ""},
		{"defaults", wantTopic("defaults", -1, -1), nil, ""},
		{"replication is clamped", wantTopic("three", 1, 3), nil, ""},
		{"longest name", wantTopic(long, 1, 1), nil, ""},
		{"name like the cluster directory", wantTopic("__cluster", 1, 1), nil, ""},
		{"internal name", wantTopic("__consumer_offsets", 1, 1), nil, ""},
		{"name too long", wantTopic(long+"n", 1, 1), kerr.InvalidTopicException, "250"},
		{"no name", wantTopic("", 1, 1), kerr.InvalidTopicException, "empty"},
		{"dot", wantTopic(".", 1, 1), kerr.InvalidTopicException, "."},
		{"dots", wantTopic("..", 1, 1), kerr.InvalidTopicException, ".."},
		{"path", wantTopic("../escape", 1, 1), kerr.InvalidTopicException, "character"},
		{"letter outside ASCII", wantTopic("é", 1, 1), kerr.InvalidTopicException, "character"},
		{"Kafka's metadata log", wantTopic("__cluster_metadata", 1, 1), kerr.TopicAuthorizationFailed, ""},
		{"exists", wantTopic("old.topic", 1, 1), kerr.TopicAlreadyExists, "old.topic"},
		{"exists comes first", wantTopic("old.topic", 0, 0, "nope", "1"), kerr.TopicAlreadyExists, ""},
		{"collides", wantTopic("old_topic", 1, 1), kerr.InvalidTopicException, "old.topic"},
		{"no partitions", wantTopic("t", 0, 1), kerr.InvalidPartitions, ""},
		{"fewer than default", wantTopic("t", -2, 1), kerr.InvalidPartitions, ""},
		{"no replicas", wantTopic("t", 1, 0), kerr.InvalidReplicationFactor, ""},
		{"replicas below default", wantTopic("t", 1, -2), kerr.InvalidReplicationFactor, ""},
		{"replicas before partitions", wantTopic("t", 0, 0), kerr.InvalidReplicationFactor, ""},
		{"unknown key", wantTopic("t", 1, 1, "retention.mss", "1"), kerr.InvalidConfig, "did you mean retention.ms"},
		{"key without name", wantTopic("t", 1, 1, "", "1"), kerr.InvalidConfig, ""},
		{"null value", wantTopic("t", 1, 1, "retention.ms", "<null>"), kerr.InvalidConfig, "retention.ms"},
		{"no number", wantTopic("t", 1, 1, "retention.ms", "abc"), kerr.InvalidConfig, "Invalid value abc for configuration retention.ms: Not a number of type LONG"},
		{"out of range", wantTopic("t", 1, 1, "retention.ms", "-2"), kerr.InvalidConfig, "at least -1"},
		{"two bad values on one line", wantTopic("t", 1, 1, "retention.ms", "x", "segment.ms", "y"), kerr.InvalidConfig, "LONG; Invalid value y"},
		{"contradicting values", wantTopic("t", 1, 1, "min.compaction.lag.ms", "10", "max.compaction.lag.ms", "5"), kerr.InvalidConfig, "max.compaction.lag.ms"},
		{"configuration before partitions", wantTopic("t", 0, 1, "nope", "1"), kerr.InvalidConfig, ""},
		{"the last of two values counts", wantTopic("last", 1, 1, "retention.ms", "x", "retention.ms", "5"), nil, ""},
		{"more in sync than replicas", wantTopic("insync", 1, 1, "min.insync.replicas", "5"), nil, ""},
		{"assigned", assigned(wantTopic("assigned", -1, -1), []int32{1, nodeID}, []int32{0, nodeID}), nil, ""},
		{"assigned and counted", assigned(wantTopic("t", 1, -1), []int32{0, nodeID}), kerr.InvalidRequest, "-1"},
		{"assigned and replicated", assigned(wantTopic("t", -1, 1), []int32{0, nodeID}), kerr.InvalidRequest, "-1"},
		{"assigned to a stranger", assigned(wantTopic("t", -1, -1), []int32{0, 3}), kerr.InvalidReplicaAssignment, "broker 3"},
		{"assigned to a stranger too", assigned(wantTopic("t", -1, -1), []int32{0, nodeID, 3}), kerr.InvalidReplicaAssignment, "broker 3"},
		{"assigned twice to one", assigned(wantTopic("t", -1, -1), []int32{0, nodeID, nodeID}), kerr.InvalidReplicaAssignment, "more than once"},
		{"assigned to nobody", assigned(wantTopic("t", -1, -1), []int32{0}), kerr.InvalidReplicaAssignment, "no replica"},
		{"assigned with a gap", assigned(wantTopic("t", -1, -1), []int32{0, nodeID}, []int32{2, nodeID}), kerr.InvalidReplicaAssignment, "1 is missing"},
		{"assigned below 0", assigned(wantTopic("t", -1, -1), []int32{-1, nodeID}), kerr.InvalidReplicaAssignment, "0 is missing"},
		{"partition assigned twice", assigned(wantTopic("t", -1, -1), []int32{0, nodeID}, []int32{0, nodeID}), kerr.InvalidReplicaAssignment, "partition 0"},
	}
	b := newBench(t)
	b.topic("old.topic", 1)
	for _, validateOnly := range []bool{true, false} {
		for _, c := range cases {
			t.Run(fmt.Sprintf("%s, validate only %v", c.name, validateOnly), func(t *testing.T) {
				before := b.catalog.Snapshot()
				request := createRequest(7, c.topic)
				request.ValidateOnly = validateOnly
				row := b.create(request).Topics[0]
				want := int16(0)
				if c.code != nil {
					want = c.code.Code
				}
				if row.ErrorCode != want || !strings.Contains(text(row.ErrorMessage), c.says) {
					t.Errorf("error %d %s", row.ErrorCode, text(row.ErrorMessage))
				}
				if changed := b.catalog.Snapshot() != before; changed != (c.code == nil && !validateOnly) {
					t.Errorf("catalog changed: %v", changed)
				}
				if row.ErrorCode == 0 && (row.ReplicationFactor != 1 || len(row.Configs) != 31) {
					t.Errorf("answered %d replicas, %d configurations", row.ReplicationFactor, len(row.Configs))
				}
			})
		}
	}
	if topic, _ := b.catalog.Snapshot().ByName("defaults"); topic.Partitions != 2 {
		t.Errorf("%d partitions by default", topic.Partitions)
	}
	if topic, _ := b.catalog.Snapshot().ByName("assigned"); topic.Partitions != 2 {
		t.Errorf("%d assigned partitions", topic.Partitions)
	}
}

func TestCreateTopicsOneFaultIsNoOthers(t *testing.T) {
	b := newBench(t)
	got := b.create(createRequest(7, wantTopic("dup", 1, 1), wantTopic("..", 1, 1), wantTopic("good", 1, 1), wantTopic("dup", 2, 1),
		wantTopic("dup", 3, 1), wantTopic("a.b", 1, 1), wantTopic("a_b", 1, 1)))
	expectOutcomes(t, creations(got), outcome{"dup", 42}, outcome{"..", 17}, outcome{"good", 0}, outcome{"a.b", 0}, outcome{"a_b", 17})
	if got := b.catalog.Snapshot().Len(); got != 2 {
		t.Errorf("%d topics", got)
	}
	if got := b.create(createRequest(7)); len(got.Topics) != 0 {
		t.Errorf("answer to no topics: %+v", got)
	}
}

func TestCreateTopicsLimits(t *testing.T) {
	b := newBench(t)
	for _, partitions := range []int32{10_001, 1<<31 - 1} {
		got := b.create(createRequest(7, wantTopic("huge", partitions, 1), wantTopic("small", 1, 1), wantTopic("..", 1, 1)))
		expectOutcomes(t, creations(got), outcome{"huge", 44}, outcome{"small", 44}, outcome{"..", 17})
	}
	if row := b.create(validated(createRequest(7, wantTopic("most", 10_000, 1)))).Topics[0]; row.ErrorCode != 0 || row.NumPartitions != 10_000 {
		t.Errorf("%d partitions: error %d", row.NumPartitions, row.ErrorCode)
	}
	many := validated(createRequest(4))
	for i := range 5000 {
		many.Topics = append(many.Topics, wantTopic(fmt.Sprintf("t%d", i%4000), 2, 1))
	}
	codes := map[int16]int{}
	for _, row := range b.create(many).Topics {
		codes[row.ErrorCode]++
	}
	if fmt.Sprint(codes) != "map[0:3000 42:1000]" {
		t.Errorf("codes %v", codes)
	}
}

func TestCreateTopicsTimeout(t *testing.T) {
	b := newBench(t)
	for _, timeout := range []int32{0, -1} {
		request := createRequest(7, wantTopic("late", 1, 1), wantTopic("..", 1, 1))
		request.TimeoutMillis = timeout
		expectOutcomes(t, creations(b.create(request)), outcome{"late", 7}, outcome{"..", 17})
	}
	if b.catalog.Snapshot().Len() != 0 {
		t.Error("a topic was created that nobody waits for")
	}
}

// A topic whose partitions cannot be served in time is there all the same.
func TestCreateTopicsDoesNotWaitForever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(s *setup) {
			s.wrap = func(_ *setup, p api.Partitions) api.Partitions { return takingOver{p} }
		})
		began := time.Now()
		request := createRequest(7, wantTopic("t", 3, 1))
		request.TimeoutMillis = 1500
		expectOutcomes(t, creations(b.create(request)), outcome{"t", 0})
		if took := time.Since(began); took != 1500*time.Millisecond {
			t.Errorf("waited %s", took)
		}
	})
}

// A request that waits behind one that hangs is answered in time, and not carried out later.
func TestCreateTopicsBehindAHungOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, goOn := hungBench(t)
		first := make(chan *kmsg.CreateTopicsResponse, 1)
		go func() { first <- b.create(createRequest(7, wantTopic("first", 1, 1))) }()
		synctest.Wait()
		began := time.Now()
		expectOutcomes(t, creations(b.create(createRequest(7, wantTopic("second", 1, 1)))), outcome{"second", 7})
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("answered after %v", took)
		}
		goOn()
		expectOutcomes(t, creations(<-first), outcome{"first", 0})
		if _, made := b.catalog.Snapshot().ByName("second"); made {
			t.Error("a topic was created that nobody waits for")
		}
	})
}

// leaving cancels the client's context when the first partition is waited for.
type leaving struct {
	api.Partitions
	leave context.CancelFunc
}

func (l leaving) Await(ctx context.Context, t *catalog.Topic, index int32) (*storage.Partition, error) {
	l.leave()
	return l.Partitions.Await(ctx, t, index)
}

func TestCreateTopicsFinishesWhatItBegan(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	b := newBench(t, func(s *setup) {
		s.wrap = func(_ *setup, p api.Partitions) api.Partitions { return leaving{p, cancel} }
	})
	_, finish := b.start(ctx, createRequest(7, wantTopic("a", 1, 1), wantTopic("b", 1, 1)))
	if _, err := finish(ctx); err == nil {
		t.Error("no error for a client that left")
	}
	if b.catalog.Snapshot().Len() != 2 {
		t.Error("topics were lost with their client")
	}
	_, finish = b.start(ctx, createRequest(7, wantTopic("c", 1, 1)))
	_, _ = finish(ctx)
	if b.catalog.Snapshot().Len() != 2 {
		t.Error("a topic was begun for a client that had left")
	}
}

func TestCreateTopicsAuthorization(t *testing.T) {
	b := newBench(t, without("CREATE CLUSTER kafka-cluster", "CREATE TOPIC secret", "DESCRIBE_CONFIGS TOPIC quiet"))
	got := b.create(createRequest(7, wantTopic("secret", 1, 1), wantTopic("quiet", 1, 3), wantTopic("open", 1, 1)))
	expectOutcomes(t, creations(got), outcome{"secret", 29}, outcome{"quiet", 0}, outcome{"open", 0})
	quiet := got.Topics[1]
	if quiet.ConfigErrorCode != 29 || quiet.NumPartitions != -1 || quiet.ReplicationFactor != -1 || len(quiet.Configs) != 0 || quiet.TopicID == [16]byte{} {
		t.Errorf("without the right to describe: %+v", quiet)
	}
	anywhere := newBench(t, without("CREATE TOPIC t"))
	expectOutcomes(t, creations(anywhere.create(createRequest(7, wantTopic("t", 1, 1)))), outcome{"t", 0})
}
