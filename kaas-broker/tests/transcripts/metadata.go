package transcripts

import (
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func metadataRequest(names ...string) *kmsg.MetadataRequest {
	request := kmsg.NewPtrMetadataRequest()
	request.Topics = []kmsg.MetadataRequestTopic{}
	for _, name := range names {
		request.Topics = append(request.Topics, kmsg.MetadataRequestTopic{Topic: &name})
	}
	return request
}

// invalidNames are names that no topic may have.
var invalidNames = map[string]string{
	"empty": "", "one dot": ".", "two dots": "..", "250 characters": strings.Repeat("x", 250), "a slash": "a/b", "a space": "a b", "an umlaut": "ä", "a colon": "a:b",
}

// invalidOrder is the order in which scripts try them.
var invalidOrder = []string{"empty", "one dot", "two dots", "250 characters", "a slash", "a space", "an umlaut", "a colon"}

func metadataScript(t *Talk) {
	id := t.Topic("metadata-plain", 2)
	t.Topic("metadata-other", 1)

	t.AskEach("every topic", 1, 12, kmsg.NewPtrMetadataRequest())
	t.Ask("every topic, told by an empty list", 0, metadataRequest())
	t.AskEach("no topic", 1, 12, metadataRequest())
	t.AskEach("one topic", 0, 12, metadataRequest("metadata-plain"))
	unknown := metadataRequest("metadata-unknown")
	t.AskEach("an unknown topic, not to be made", 4, 12, unknown)
	t.Ask("named twice, and another", 9, metadataRequest("metadata-plain", "metadata-other", "metadata-plain"))
	for _, what := range invalidOrder {
		t.AskEach("an invalid name, "+what, 4, 5, metadataRequest(invalidNames[what]))
		create := metadataRequest(invalidNames[what])
		create.AllowAutoTopicCreation = true
		t.Ask("an invalid name to be made, "+what, 12, create)
	}
	metadataOperations(t)
	metadataByID(t, id)
	metadataCreation(t)
}

func metadataOperations(t *Talk) {
	operations := metadataRequest("metadata-plain", "metadata-unknown")
	operations.IncludeClusterAuthorizedOperations = true
	operations.IncludeTopicAuthorizedOperations = true
	t.AskEach("authorized operations", 8, 12, operations)
	topics := metadataRequest("metadata-plain")
	topics.IncludeTopicAuthorizedOperations = true
	t.AskEach("authorized operations of topics", 8, 12, topics)
}

func metadataByID(t *Talk, id [16]byte) {
	byID := kmsg.NewPtrMetadataRequest()
	byID.Topics = []kmsg.MetadataRequestTopic{{TopicID: id}}
	t.AskEach("by id", 10, 12, byID)
	both := kmsg.NewPtrMetadataRequest()
	both.Topics = []kmsg.MetadataRequestTopic{{TopicID: id, Topic: new("metadata-plain")}}
	t.AskEach("by id and name", 10, 12, both)
	contradiction := kmsg.NewPtrMetadataRequest()
	contradiction.Topics = []kmsg.MetadataRequestTopic{{TopicID: id, Topic: new("metadata-other")}}
	t.Ask("by id and another's name", 12, contradiction)
	stranger := kmsg.NewPtrMetadataRequest()
	stranger.Topics = []kmsg.MetadataRequestTopic{{TopicID: strangerID}, {TopicID: id}}
	t.Ask("by an unknown id", 12, stranger)
	mixed := kmsg.NewPtrMetadataRequest()
	mixed.Topics = []kmsg.MetadataRequestTopic{{Topic: new("metadata-plain")}, {TopicID: id}}
	t.Ask("one by id and one by name", 12, mixed)
	neither := kmsg.NewPtrMetadataRequest()
	neither.Topics = []kmsg.MetadataRequestTopic{{}}
	t.AskEach("neither id nor name", 10, 12, neither)
}

func metadataCreation(t *Talk) {
	for version := int16(0); version <= 12; version += 4 {
		name := "metadata_made-" + string(rune('a'+version))
		request := metadataRequest(name)
		request.AllowAutoTopicCreation = true
		t.Ask("an unknown topic, to be made", version, request)
		t.Settle()
		t.Learn(name)
		t.Ask("the topic that was made", version, metadataRequest(name))
	}
	request := metadataRequest("metadata.made-a")
	request.AllowAutoTopicCreation = true
	t.Ask("a topic to be made whose name collides", 12, request)
}
