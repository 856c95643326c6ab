package api_test

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// growTo is a topic of a request; each assignment is the replicas of one new partition.
func growTo(name string, count int32, assignments ...[]int32) kmsg.CreatePartitionsRequestTopic {
	topic := kmsg.NewCreatePartitionsRequestTopic()
	topic.Topic, topic.Count = name, count
	for _, replicas := range assignments {
		assignment := kmsg.NewCreatePartitionsRequestTopicAssignment()
		assignment.Replicas = replicas
		topic.Assignment = append(topic.Assignment, assignment)
	}
	return topic
}

func growRequest(version int16, topics ...kmsg.CreatePartitionsRequestTopic) *kmsg.CreatePartitionsRequest {
	request := kmsg.NewPtrCreatePartitionsRequest()
	request.Version, request.TimeoutMillis, request.Topics = version, 10_000, topics
	return request
}

func (b *bench) grow(request *kmsg.CreatePartitionsRequest) *kmsg.CreatePartitionsResponse {
	b.t.Helper()
	return ask[*kmsg.CreatePartitionsResponse](b, request)
}

func growths(response *kmsg.CreatePartitionsResponse) (all []outcome) {
	for _, row := range response.Topics {
		all = append(all, outcome{row.Topic, row.ErrorCode})
	}
	return all
}

func TestCreatePartitionsEveryVersion(t *testing.T) {
	b := newBench(t)
	b.topic("t", 1)
	b.write("t", 0, "kept")
	for version := range int16(4) {
		count := 2 + int32(version)
		expectOutcomes(t, growths(b.grow(growRequest(version, growTo("t", count), growTo("nope", 2)))), outcome{"t", 0}, outcome{"nope", 3})
		topic, _ := b.catalog.Snapshot().ByName("t")
		if topic.Partitions != count {
			t.Fatalf("v%d: %d partitions", version, topic.Partitions)
		}
		if _, err := b.partitions.Partition(topic, count-1); err != nil {
			t.Errorf("v%d: the new partition is not served when it is answered: %v", version, err)
		}
	}
	b.write("t", 4, "new")
	topic, _ := b.catalog.Snapshot().ByName("t")
	if end := b.partition(topic, 0).Offsets().LogEnd; end != 1 {
		t.Errorf("partition 0 has %d records", end)
	}
}

func TestCreatePartitionsJudges(t *testing.T) {
	empty := growTo("t", 4)
	empty.Assignment = []kmsg.CreatePartitionsRequestTopicAssignment{}
	cases := []struct {
		name   string
		topics []kmsg.CreatePartitionsRequestTopic
		want   []outcome
		says   string
	}{
		{"none", nil, nil, ""},
		{"as many", []kmsg.CreatePartitionsRequestTopic{growTo("t", 3)}, []outcome{{"t", 37}}, "3 partitions already"},
		{"fewer", []kmsg.CreatePartitionsRequestTopic{growTo("t", 2)}, []outcome{{"t", 37}}, "fewer"},
		{"zero", []kmsg.CreatePartitionsRequestTopic{growTo("t", 0)}, []outcome{{"t", 37}}, ""},
		{"negative", []kmsg.CreatePartitionsRequestTopic{growTo("t", -1)}, []outcome{{"t", 37}}, ""},
		{"least integer", []kmsg.CreatePartitionsRequestTopic{growTo("t", -1<<31)}, []outcome{{"t", 37}}, ""},
		{"too many in one topic", []kmsg.CreatePartitionsRequestTopic{growTo("t", 10_001)}, []outcome{{"t", 37}}, "10000"},
		{
			"too many in one request",
			[]kmsg.CreatePartitionsRequestTopic{growTo("t", 1<<31-1), growTo("u", 3), growTo("nope", 5)},
			[]outcome{{"t", 44}, {"u", 44}, {"nope", 3}},
			"10000",
		},
		{"twice", []kmsg.CreatePartitionsRequestTopic{growTo("t", 5), growTo("t", 5), growTo("nope", 1)}, []outcome{{"t", 42}, {"nope", 3}}, "more than once"},
		{"bad names", []kmsg.CreatePartitionsRequestTopic{growTo("..", 5), growTo("", 5)}, []outcome{{"..", 3}, {"", 3}}, ""},
		{"assigned", []kmsg.CreatePartitionsRequestTopic{growTo("t", 4, []int32{nodeID})}, []outcome{{"t", 0}}, ""},
		{"too many assigned", []kmsg.CreatePartitionsRequestTopic{growTo("t", 4, []int32{nodeID}, []int32{nodeID})}, []outcome{{"t", 39}}, "1 partitions are to be added, but 2"},
		{"too few assigned", []kmsg.CreatePartitionsRequestTopic{growTo("t", 5, []int32{nodeID})}, []outcome{{"t", 39}}, "2 partitions"},
		{"none assigned", []kmsg.CreatePartitionsRequestTopic{empty}, []outcome{{"t", 39}}, "0 are assigned"},
		{"assigned to a stranger", []kmsg.CreatePartitionsRequestTopic{growTo("t", 4, []int32{2})}, []outcome{{"t", 39}}, "broker 2"},
		{"assigned to nobody", []kmsg.CreatePartitionsRequestTopic{growTo("t", 4, []int32{})}, []outcome{{"t", 39}}, "no replica"},
		{"assigned twice to one", []kmsg.CreatePartitionsRequestTopic{growTo("t", 4, []int32{nodeID, nodeID})}, []outcome{{"t", 39}}, "more than once"},
		{"count before assignment", []kmsg.CreatePartitionsRequestTopic{growTo("t", 3, []int32{2})}, []outcome{{"t", 37}}, ""},
	}
	b := newBench(t)
	b.topic("t", 3)
	b.topic("u", 1)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			request := growRequest(3, c.topics...)
			request.ValidateOnly = true
			response := b.grow(request)
			expectOutcomes(t, growths(response), c.want...)
			if len(response.Topics) > 0 && !strings.Contains(text(response.Topics[0].ErrorMessage), c.says) {
				t.Errorf("message %s", text(response.Topics[0].ErrorMessage))
			}
			if topic, _ := b.catalog.Snapshot().ByName("t"); topic.Partitions != 3 {
				t.Errorf("validate only made it %d partitions", topic.Partitions)
			}
			if len(c.want) == 1 && c.want[0].code != 0 {
				request.ValidateOnly = false
				expectOutcomes(t, growths(b.grow(request)), c.want...)
			}
		})
	}
}

func TestCreatePartitionsTimeout(t *testing.T) {
	b := newBench(t)
	b.topic("t", 1)
	request := growRequest(3, growTo("t", 2))
	request.TimeoutMillis = 0
	expectOutcomes(t, growths(b.grow(request)), outcome{"t", 7})
	if topic, _ := b.catalog.Snapshot().ByName("t"); topic.Partitions != 1 {
		t.Errorf("%d partitions", topic.Partitions)
	}
}

func TestCreatePartitionsAuthorization(t *testing.T) {
	b := newBench(t, without("ALTER TOPIC t", "ALTER TOPIC absent"))
	b.topic("t", 1)
	expectOutcomes(t, growths(b.grow(growRequest(3, growTo("t", 2), growTo("absent", 2)))), outcome{"t", 29}, outcome{"absent", 29})
}
