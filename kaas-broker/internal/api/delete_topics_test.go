package api_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// deleteTopicsRequest names topics by strings and, from v6 on, by ids. A nil element names nothing.
func deleteTopicsRequest(version int16, topics ...any) *kmsg.DeleteTopicsRequest {
	request := kmsg.NewPtrDeleteTopicsRequest()
	request.Version, request.TimeoutMillis = version, 10_000
	for _, topic := range topics {
		wanted := kmsg.NewDeleteTopicsRequestTopic()
		switch topic := topic.(type) {
		case string:
			wanted.Topic = &topic
			request.TopicNames = append(request.TopicNames, topic)
		case uuid.UUID:
			wanted.TopicID = topic
		}
		request.Topics = append(request.Topics, wanted)
	}
	return request
}

func (b *bench) delete(request *kmsg.DeleteTopicsRequest) *kmsg.DeleteTopicsResponse {
	b.t.Helper()
	return ask[*kmsg.DeleteTopicsResponse](b, request)
}

func deletions(response *kmsg.DeleteTopicsResponse) (all []outcome) {
	for _, row := range response.Topics {
		all = append(all, outcome{text(row.Topic), row.ErrorCode})
	}
	return all
}

func TestDeleteTopicsEveryVersion(t *testing.T) {
	b := newBench(t, deletable)
	for version := range int16(7) {
		name := fmt.Sprintf("v%d", version)
		topic := b.topic(name, 2)
		response := b.delete(deleteTopicsRequest(version, name, "nope"))
		expectOutcomes(t, deletions(response), outcome{name, 0}, outcome{"nope", 3})
		if version >= 6 && response.Topics[0].TopicID != topic.ID {
			t.Errorf("topic id %x", response.Topics[0].TopicID)
		}
		if version >= 5 && (response.Topics[0].ErrorMessage != nil || response.Topics[1].ErrorMessage == nil) {
			t.Errorf("v%d: messages %s and %s", version, text(response.Topics[0].ErrorMessage), text(response.Topics[1].ErrorMessage))
		}
		if _, still := b.catalog.Snapshot().ByName(name); still {
			t.Errorf("v%d: still there", version)
		}
		expectOutcomes(t, deletions(b.delete(deleteTopicsRequest(version, name))), outcome{name, 3})
	}
}

func TestDeleteTopicsFreesTheName(t *testing.T) {
	b := newBench(t, deletable)
	first := b.topic("t", 1)
	b.write("t", 0, "old")
	b.delete(deleteTopicsRequest(6, "t"))
	b.create(createRequest(7, wantTopic("t", 1, 1)))
	again, _ := b.catalog.Snapshot().ByName("t")
	if again == nil || again.ID == first.ID {
		t.Fatalf("topic %+v", again)
	}
	if end := b.partition(again, 0).Offsets().LogEnd; end != 0 {
		t.Errorf("the new topic has %d records", end)
	}
	expectOutcomes(t, deletions(b.delete(deleteTopicsRequest(6, first.ID))), outcome{"<null>", 100})
	if _, there := b.catalog.Snapshot().ByName("t"); !there {
		t.Error("the id of the first topic deleted the second")
	}
}

func TestDeleteTopicsJudges(t *testing.T) {
	b := newBench(t, deletable)
	ids := map[string]uuid.UUID{}
	for _, name := range []string{"a", "b", "c", "d", "e", "__consumer_offsets"} {
		ids[name] = b.topic(name, 1).ID
	}
	stranger := uuid.MustParse("6f1c4a40-6f9e-4f2e-8f5e-0d1f3c2b1a00")
	both := deleteTopicsRequest(6, "c")
	both.Topics[0].TopicID = ids["c"]
	cases := []struct {
		name    string
		request *kmsg.DeleteTopicsRequest
		want    []outcome
	}{
		{"nothing", deleteTopicsRequest(6), nil},
		{"by id", deleteTopicsRequest(6, ids["a"]), []outcome{{"a", 0}}},
		{"unknown id", deleteTopicsRequest(6, stranger), []outcome{{"<null>", 100}}},
		{"neither name nor id", deleteTopicsRequest(6, nil), []outcome{{"<null>", 42}}},
		{"name and id", both, []outcome{{"c", 42}}},
		{"one topic by name and by id", deleteTopicsRequest(6, "c", ids["c"]), []outcome{{"c", 42}, {"c", 42}}},
		{"name twice", deleteTopicsRequest(6, "b", "c", "b", "b"), []outcome{{"b", 42}, {"c", 0}}},
		{"name twice in an old version", deleteTopicsRequest(1, "b", "b"), []outcome{{"b", 42}}},
		{"unknown name twice", deleteTopicsRequest(6, "nope", "nope"), []outcome{{"nope", 42}}},
		{"id twice", deleteTopicsRequest(6, ids["b"], ids["b"]), []outcome{{"<null>", 42}}},
		{"no such names", deleteTopicsRequest(6, "", "..", "__cluster_metadata"), []outcome{{"", 3}, {"..", 3}, {"__cluster_metadata", 3}}},
		{"an unknown one beside a known one", deleteTopicsRequest(6, stranger, "d"), []outcome{{"<null>", 100}, {"d", 0}}},
		{"internal", deleteTopicsRequest(6, "__consumer_offsets"), []outcome{{"__consumer_offsets", 0}}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { expectOutcomes(t, deletions(b.delete(c.request)), c.want...) })
	}
	var left []string
	for _, topic := range b.catalog.Snapshot().Topics() {
		left = append(left, topic.Name)
	}
	if fmt.Sprint(left) != "[b e]" {
		t.Errorf("left are %v", left)
	}
}

func TestDeleteTopicsTimeout(t *testing.T) {
	b := newBench(t, deletable)
	b.topic("t", 1)
	request := deleteTopicsRequest(6, "t", "nope")
	request.TimeoutMillis = 0
	expectOutcomes(t, deletions(b.delete(request)), outcome{"t", 7}, outcome{"nope", 3})
	if b.catalog.Snapshot().Len() != 1 {
		t.Error("a topic was deleted although nobody waits")
	}
}

func TestDeleteTopicsDisabled(t *testing.T) {
	b := newBench(t)
	topic := b.topic("t", 1)
	for version := range int16(7) {
		want := int16(73)
		if version < 3 {
			want = 42
		}
		expectOutcomes(t, deletions(b.delete(deleteTopicsRequest(version, "t", "nope"))), outcome{"t", want}, outcome{"nope", want})
	}
	expectOutcomes(t, deletions(b.delete(deleteTopicsRequest(6, topic.ID))), outcome{"t", 73})
	if b.catalog.Snapshot().Len() != 1 {
		t.Error("a topic was deleted")
	}
}

func TestDeleteTopicsAuthorization(t *testing.T) {
	b := newBench(t, deletable, without("DESCRIBE TOPIC hidden", "DELETE TOPIC hidden", "DELETE TOPIC seen", "DESCRIBE TOPIC absent"))
	hidden, seen := b.topic("hidden", 1), b.topic("seen", 1)
	response := b.delete(deleteTopicsRequest(6, "hidden", "absent", "seen"))
	expectOutcomes(t, deletions(response), outcome{"hidden", 29}, outcome{"absent", 29}, outcome{"seen", 29})
	if response.Topics[0].TopicID != [16]byte{} {
		t.Error("the id of a topic that the client may not know was told")
	}
	response = b.delete(deleteTopicsRequest(6, hidden.ID, seen.ID))
	expectOutcomes(t, deletions(response), outcome{"<null>", 29}, outcome{"seen", 29})
	if b.catalog.Snapshot().Len() != 2 {
		t.Error("a topic was deleted")
	}
}
