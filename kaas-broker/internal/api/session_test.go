package api_test

import (
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
)

// inSession turns a request into one of a session.
func inSession(request *kmsg.FetchRequest, id, epoch int32) *kmsg.FetchRequest {
	request.SessionID, request.SessionEpoch = id, epoch
	return request
}

// continued is a request of a session that changes nothing.
func continued(version int16, id, epoch int32) *kmsg.FetchRequest {
	request := fetchRequest(version, &catalog.Topic{}, 0, 0)
	request.Topics = nil
	return inSession(request, id, epoch)
}

func TestFetchSession(t *testing.T) {
	for _, version := range []int16{7, 12, 13, 16} {
		b := newBench(t)
		topic := b.topic("t", 2)
		request := fetchRequest(version, topic, 0, 0)
		second := request.Topics[0].Partitions[0]
		second.Partition = 1
		request.Topics[0].Partitions = append(request.Topics[0].Partitions, second)
		full := b.fetch(inSession(request, 0, 0))
		if full.SessionID == 0 || len(full.Topics) != 1 || len(full.Topics[0].Partitions) != 2 {
			t.Fatalf("v%d: full answer %+v", version, full)
		}
		id := full.SessionID
		if quiet := b.fetch(continued(version, id, 1)); quiet.SessionID != id || len(quiet.Topics) > 0 {
			t.Errorf("v%d: quiet answer %+v", version, quiet)
		}
		b.write("t", 1, "a")
		news := b.fetch(continued(version, id, 2))
		if len(news.Topics) != 1 || len(news.Topics[0].Partitions) != 1 || news.Topics[0].Partitions[0].Partition != 1 {
			t.Fatalf("v%d: answer with records %+v", version, news)
		}
		if got := values(t, news.Topics[0].Partitions[0].RecordBatches); !slices.Equal(got, []string{"a"}) {
			t.Errorf("v%d: values %v", version, got)
		}
		forget := continued(version, id, 3)
		forget.ForgottenTopics = []kmsg.FetchRequestForgottenTopic{{Topic: "t", TopicID: topic.ID, Partitions: []int32{1}}}
		if left := b.fetch(forget); left.ErrorCode != 0 || len(left.Topics) > 0 {
			t.Errorf("v%d: answer after forgetting %+v", version, left)
		}
	}
}

func TestFetchSessionErrors(t *testing.T) {
	b := newBench(t)
	topic := b.topic("t", 1)
	id := b.fetch(inSession(fetchRequest(12, topic, 0, 0), 0, 0)).SessionID
	cases := []struct {
		name    string
		request *kmsg.FetchRequest
		code    int16
	}{
		{"unknown id", continued(12, id^1, 1), 70},
		{"no id", continued(12, 0, 1), 70},
		{"wrong epoch", continued(12, id, 9), 71},
		{"the session lives on", continued(12, id, 1), 0},
		{"ids after names", continued(13, id, 2), 106},
	}
	for _, c := range cases {
		response := b.fetch(c.request)
		if response.ErrorCode != c.code || c.code != 0 && (response.SessionID != 0 || len(response.Topics) > 0) {
			t.Errorf("%s: %+v, want error %d", c.name, response, c.code)
		}
	}
}

func TestFetchWithoutSession(t *testing.T) {
	b := newBench(t)
	topic := b.topic("t", 1)
	if response := b.fetch(fetchRequest(12, topic, 0, 0)); response.SessionID != 0 || len(response.Topics) != 1 {
		t.Errorf("sessionless: %+v", response)
	}
	id := b.fetch(inSession(fetchRequest(12, topic, 0, 0), 0, 0)).SessionID
	if response := b.fetch(inSession(fetchRequest(12, topic, 0, 0), id, -1)); response.SessionID != 0 || response.ErrorCode != 0 {
		t.Errorf("closing: %+v", response)
	}
	if response := b.fetch(continued(12, id, 1)); response.ErrorCode != 70 {
		t.Errorf("after closing: %+v", response)
	}
	var last int32
	for range 10 {
		last = b.fetch(inSession(fetchRequest(12, topic, 0, 0), 0, 0)).SessionID
	}
	if last != 0 {
		t.Error("a client that opens one session after the other got one beyond the slots")
	}
}

// TestFetchSessionRepeatsErrors also covers a topic that is deleted while a session has it.
func TestFetchSessionRepeatsErrors(t *testing.T) {
	b := newBench(t)
	topic := b.topic("t", 1)
	id := b.fetch(inSession(fetchRequest(13, topic, 0, 0), 0, 0)).SessionID
	must(t, b.topics.DeleteTopic(t.Context(), "t"))
	for epoch := int32(1); epoch < 4; epoch++ {
		response := b.fetch(continued(13, id, epoch))
		if len(response.Topics) != 1 || response.Topics[0].Partitions[0].ErrorCode != 100 {
			t.Errorf("epoch %d: %+v", epoch, response)
		}
	}
}
