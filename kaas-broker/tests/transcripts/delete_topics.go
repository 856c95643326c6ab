package transcripts

import "github.com/twmb/franz-go/pkg/kmsg"

func deleteNamed(names ...string) *kmsg.DeleteTopicsRequest {
	request := kmsg.NewPtrDeleteTopicsRequest()
	request.TimeoutMillis = 30000
	request.TopicNames = names
	for _, name := range names {
		request.Topics = append(request.Topics, kmsg.DeleteTopicsRequestTopic{Topic: &name})
	}
	return request
}

func deleteByID(ids ...[16]byte) *kmsg.DeleteTopicsRequest {
	request := kmsg.NewPtrDeleteTopicsRequest()
	request.TimeoutMillis = 30000
	for _, id := range ids {
		request.Topics = append(request.Topics, kmsg.DeleteTopicsRequestTopic{TopicID: id})
	}
	return request
}

func deleteTopicsScript(t *Talk) {
	for version := range int16(7) {
		name := "delete-topics-v" + string('0'+rune(version))
		t.Topic(name, 2)
		t.Ask("a topic", version, deleteNamed(name))
		t.Settle()
		t.Ask("a topic that was deleted", version, deleteNamed(name))
	}
	t.Ask("metadata of a topic that was deleted", 12, metadataRequest("delete-topics-v6"))
	for _, what := range invalidOrder {
		t.Ask("an invalid name, "+what, 6, deleteNamed(invalidNames[what]))
	}
	t.AskEach("no topic", 0, 6, deleteNamed())

	first := t.Topic("delete-topics-first", 1)
	second := t.Topic("delete-topics-second", 1)
	t.AskEach("an unknown topic named twice", 3, 6, deleteNamed("delete-topics-unknown", "delete-topics-unknown"))
	t.Ask("named twice", 6, deleteNamed("delete-topics-first", "delete-topics-first"))
	t.Ask("an id twice", 6, deleteByID(first, first))
	byBoth := deleteNamed("delete-topics-first")
	byBoth.Topics[0].TopicID = first
	t.Ask("by id and name", 6, byBoth)
	mixed := deleteNamed("delete-topics-first")
	mixed.Topics = append(mixed.Topics, kmsg.DeleteTopicsRequestTopic{TopicID: first})
	t.Ask("by id, and by name", 6, mixed)
	t.Ask("neither id nor name", 6, deleteByID([16]byte{}))
	t.Ask("an unknown id", 6, deleteByID(strangerID))
	t.Ask("a known and an unknown id", 6, deleteByID(second, strangerID))
	t.Settle()
	t.Ask("an id that was deleted", 6, deleteByID(second))
	again := t.Topic("delete-topics-v0", 1)
	t.Ask("made again and deleted by id", 6, deleteByID(again))
	t.Topic("delete-topics-hurried", 1)
	hurried := deleteNamed("delete-topics-hurried", "delete-topics-unknown")
	for _, hurried.TimeoutMillis = range []int32{0, -1} {
		t.Ask(noPatience(hurried.TimeoutMillis), 6, hurried)
	}
}
