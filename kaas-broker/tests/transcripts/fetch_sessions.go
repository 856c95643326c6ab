package transcripts

import "github.com/twmb/franz-go/pkg/kmsg"

// session is a fetch in a session.
func session(id, epoch int32, topics ...kmsg.FetchRequestTopic) *kmsg.FetchRequest {
	request := fetch(0, topics...)
	request.SessionID, request.SessionEpoch = id, epoch
	return request
}

// opened asks for a new session and returns its id.
func opened(t *Talk, name string, version int16, topics ...kmsg.FetchRequestTopic) int32 {
	response, _ := t.Ask(name, version, session(0, 0, topics...)).(*kmsg.FetchResponse)
	if response == nil {
		return 0
	}
	return response.SessionID
}

func fetchSessionsScript(t *Talk) {
	const name = "fetch-sessions"
	id := t.Topic(name, 3, forever)
	t.Prepare(9, produceTo(name, values("a", "b")))
	from := int64(0)
	for _, version := range []int16{7, 11, 12, 13, 16} {
		from = fetchSession(t, name, id, version, from)
	}
	fetchSessionErrors(t, name, id)
	fetchSessionStyles(t, name, id)
	fetchSessionDeletion(t)
}

// fetchSession leads one session from its beginning to its end. Partition 1 is empty and begins at from; the next session's begins where it returns.
func fetchSession(t *Talk, name string, id [16]byte, version int16, from int64) (next int64) {
	s := opened(t, "a new session", version, fetchTopic(name, id, 0, 0), fetchTopic(name, id, 1, from), fetchTopic(name, id, 9, 0))
	t.Ask("the session's second fetch, records again", version, session(s, 1))
	t.Ask("the session's third fetch, at the end", version, session(s, 2, fetchTopic(name, id, 0, 2)))
	t.Ask("the session's fourth fetch, nothing new", version, session(s, 3))
	t.Prepare(9, produce(-1, name, 1, values("x")))
	t.Ask("the session's fifth fetch, a new record", version, session(s, 4))
	t.Prepare(2, deleteRecords(name, 1, -1))
	t.Ask("the session's sixth fetch, an offset out of range", version, session(s, 5))
	forget := session(s, 6)
	forget.ForgottenTopics = []kmsg.FetchRequestForgottenTopic{{Topic: name, TopicID: id, Partitions: []int32{1, 9}}}
	t.Ask("the session's seventh fetch, partitions forgotten", version, forget)
	t.Ask("the session's eighth fetch, one more partition", version, session(s, 7, fetchTopic(name, id, 2, 0)))
	t.Ask("the session with a wrong epoch", version, session(s, 5))
	t.Ask("the session with the right epoch after a wrong one", version, session(s, 8))
	t.Ask("the session closed", version, session(s, -1, fetchTopic(name, id, 0, 0)))
	t.Ask("the session after it was closed", version, session(s, 9))
	return from + 1
}

func fetchSessionErrors(t *Talk, name string, id [16]byte) {
	t.Ask("no id but an epoch", 11, session(0, 5, fetchTopic(name, id, 0, 0)))
	t.Ask("an unknown session", 11, session(1, 1, fetchTopic(name, id, 0, 0)))
	t.Ask("an unknown session closed", 11, session(1, -1, fetchTopic(name, id, 0, 0)))
	t.Ask("an unknown session begun anew", 11, session(1, 0, fetchTopic(name, id, 0, 0)))
	t.Ask("an epoch of -2", 11, session(0, -2, fetchTopic(name, id, 0, 0)))
	t.Ask("a new session without partitions", 11, session(0, 0))
	wait := session(0, 5, fetchTopic(name, id, 0, 2))
	wait.MaxWaitMillis = 1000
	t.Ask("no id but an epoch, with a wait", 11, wait)
	s := opened(t, "a session to be begun anew", 11, fetchTopic(name, id, 0, 2))
	t.Ask("a session begun anew", 11, session(s, 0, fetchTopic(name, id, 2, 0)))
	t.Ask("a session after it was begun anew", 11, session(s, 1))
	unknown := opened(t, "a session with an unknown topic", 11, fetchTopic("fetch-sessions-unknown", id, 0, 0), fetchTopic(name, id, 0, 2))
	t.Ask("a session with an unknown topic, again", 11, session(unknown, 1))
}

func fetchSessionStyles(t *Talk, name string, id [16]byte) {
	named := opened(t, "a session by name", 12, fetchTopic(name, id, 0, 2))
	t.Ask("a session by name, then by id", 13, session(named, 1, fetchTopic(name, id, 0, 2)))
	t.Ask("a session by name, after it was tried by id", 12, session(named, 1))
	byID := opened(t, "a session by id", 13, fetchTopic(name, id, 0, 2), fetchTopic("", strangerID, 0, 0))
	t.Ask("a session by id, unknown ids again", 13, session(byID, 1))
	t.Ask("a session by id, then by name", 12, session(byID, 2, fetchTopic(name, id, 0, 2)))
}

// fetchSessionDeletion goes on with sessions whose topic is deleted and made again.
func fetchSessionDeletion(t *Talk) {
	const name = "fetch-sessions-deleted"
	id := t.Topic(name, 1, forever)
	t.Prepare(9, produceTo(name, values("a")))
	named := opened(t, "a session by name, of a topic to be deleted", 12, fetchTopic(name, id, 0, 0))
	byID := opened(t, "a session by id, of a topic to be deleted", 13, fetchTopic(name, id, 0, 0))
	t.Prepare(6, deleteNamed(name))
	t.Settle()
	t.Ask("a session by name, after the deletion", 12, session(named, 1))
	t.Ask("a session by id, after the deletion", 13, session(byID, 1))
	t.Ask("produce after the deletion", 9, produceTo(name, values("a")))
	t.Ask("the end after the deletion", 8, listOffsets(name, -1))
	again := t.Topic(name, 1, forever)
	t.Ask("a session by name, after the topic was made again", 12, session(named, 2))
	t.Ask("a session by id, after the topic was made again", 13, session(byID, 2))
	t.Ask("without a session, by the id of before", 13, fetch(0, fetchTopic(name, id, 0, 0)))
	t.Ask("without a session, by the new id", 13, fetch(0, fetchTopic(name, again, 0, 0)))
	t.Ask("produce to the topic that was made again", 9, produceTo(name, values("b")))
}
