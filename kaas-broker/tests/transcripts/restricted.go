package transcripts

import "github.com/twmb/franz-go/pkg/kmsg"

// restrictedSettings are those of a broker that allows little.
func restrictedSettings() map[string]string {
	return map[string]string{
		"auto.create.topics.enable":                 "false",
		"delete.topic.enable":                       "false",
		"num.partitions":                            "3",
		"message.max.bytes":                         "300",
		"log.message.timestamp.type":                "LogAppendTime",
		"log.cleanup.policy":                        "compact",
		"max.incremental.fetch.session.cache.slots": "1",
		"fetch.max.bytes":                           "1024",
		"socket.request.max.bytes":                  "10000",
		"producer.id.expiration.ms":                 "3600000",
	}
}

func restrictedScript(t *Talk) {
	const name = "restricted"
	create := metadataRequest("restricted-unknown")
	create.AllowAutoTopicCreation = true
	t.AskEach("an unknown topic, to be made", 0, 12, create)
	defaults := createTopics(newTopic(name, -1, -1))
	t.Ask("a topic with the defaults", 7, defaults, manySettings)
	t.Settle()
	id := t.Learn(name)
	t.Ask("its settings", 4, describeConfigs(kmsg.ConfigResourceTypeTopic, name, "cleanup.policy", "max.message.bytes", "message.timestamp.type", "retention.ms"))
	t.AskEach("deletion", 0, 6, deleteNamed(name))
	t.Ask("deletion of an unknown topic", 6, deleteNamed("restricted-unknown"))
	t.Ask("deletion by an unknown id", 6, deleteByID(strangerID))
	t.Ask("no key", 9, produceTo(name, values("a")))
	t.Ask("a key", 9, produceTo(name, pairs("k", "v")))
	t.Ask("a batch larger than allowed", 9, produceTo(name, pairs("k", string(make([]byte, 300)))))
	t.Ask("records cannot be deleted", 2, deleteRecords(name, 0, -1))
	for range 5 {
		t.Prepare(9, produceTo(name, pairs("k", string(make([]byte, 200)))))
	}
	t.Ask("more than the broker sends", 11, fetchFrom(name, 0), "Topics[*].Records[*]")
	first := opened(t, "the only session", 11, fetchTopic(name, id, 1, 0))
	t.Ask("a session too many", 12, session(0, 0, fetchTopic(name, id, 1, 0), fetchTopic(name, id, 2, 0)))
	t.Ask("the only session goes on", 11, session(first, 1))
	large := joined(requestHeader(keyMetadata, 1, 1, new(clientID), false), plainMetadata(), make([]byte, 9990))
	t.Frame("a request larger than allowed", keyMetadata, 1, sized(large))
	t.Frame("a request as large as allowed", keyMetadata, 1, sized(large[:10000]))
}
