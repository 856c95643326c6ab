package transcripts

import "github.com/twmb/franz-go/pkg/kmsg"

// fetchingAll asks for all offsets of a group, at every version from v2 on.
func fetchingAll(group string) *kmsg.OffsetFetchRequest {
	request := kmsg.NewPtrOffsetFetchRequest()
	request.Group = group
	request.Groups = []kmsg.OffsetFetchRequestGroup{fetchedGroup(group)}
	return request
}

// fetching asks for the offsets of one partition.
func fetching(group, topic string, partitions ...int32) *kmsg.OffsetFetchRequest {
	request := fetchingAll(group)
	request.Topics = []kmsg.OffsetFetchRequestTopic{{Topic: topic, Partitions: partitions}}
	request.Groups[0].Topics = []kmsg.OffsetFetchRequestGroupTopic{{Topic: topic, Partitions: partitions}}
	return request
}

func fetchedGroup(group string) kmsg.OffsetFetchRequestGroup {
	wanted := kmsg.NewOffsetFetchRequestGroup()
	wanted.Group = group
	return wanted
}

func offsetFetchScript(t *Talk) {
	const group, topic = "offset-fetch", "offset-fetch"
	t.Topic(topic, 3)
	t.Coordinated(group)
	t.Prepare(8, committing(group, "", simple, topic, 0, 5))
	t.Prepare(8, committing(group, "", simple, topic, 2, 6))
	t.AskEach("one offset", 0, 9, fetching(group, topic, 0))
	t.AskEach("a partition without offset", 0, 9, fetching(group, topic, 1))
	t.AskEach("an unknown partition", 1, 9, fetching(group, topic, 9))
	t.Ask("a negative partition", 8, fetching(group, topic, -1))
	t.AskEach("an unknown topic", 0, 9, fetching(group, "offset-fetch-unknown", 0))
	for _, what := range invalidOrder {
		t.Ask("an invalid name, "+what, 8, fetching(group, invalidNames[what], 0))
	}
	t.AskEach("all offsets", 2, 9, fetchingAll(group))
	t.AskEach("an unknown group", 0, 9, fetching("offset-fetch-nobody", topic, 0))
	t.AskEach("all offsets of an unknown group", 2, 9, fetchingAll("offset-fetch-nobody"))
	none := fetching(group, topic)
	none.Topics, none.Groups[0].Topics = []kmsg.OffsetFetchRequestTopic{}, []kmsg.OffsetFetchRequestGroupTopic{}
	t.AskEach("no topic", 0, 9, none)
	t.AskEach("no partition", 1, 9, fetching(group, topic))
	t.AskEach("a partition twice", 1, 9, fetching(group, topic, 0, 0, 2))
	for _, id := range groupIDs {
		t.Ask("a group with "+id.name, 7, fetching(id.id, topic, 0))
		t.Ask("a group with "+id.name, 8, fetching(id.id, topic, 0))
	}
	stable := fetching(group, topic, 0)
	stable.RequireStable = true
	t.AskEach("only what is stable", 7, 9, stable)
	offsetFetchSeveral(t, group, topic)
	offsetFetchMember(t, group, topic)
}

func offsetFetchSeveral(t *Talk, group, topic string) {
	t.Prepare(8, committing(group+"-other", "", simple, topic, 1, 8))
	several := fetching(group, topic, 0, 1)
	several.Groups = append(several.Groups, fetchedGroup(group+"-other"), fetchedGroup("offset-fetch-nobody"))
	t.AskEach("several groups", 8, 9, several)
	twice := fetching(group, topic, 0)
	twice.Groups = append(twice.Groups, fetching(group, topic, 2).Groups...)
	t.Ask("a group twice", 8, twice)
	empty := fetchingAll(group)
	empty.Groups = nil
	t.Ask("no group", 8, empty)
}

// offsetFetchMember sends what v9 has for another kind of groups.
func offsetFetchMember(t *Talk, group, topic string) {
	for _, c := range []struct {
		name   string
		member *string
		epoch  int32
	}{{"a member", new("nobody"), -1}, {"an epoch", nil, 0}, {"a member and an epoch", new("nobody"), 3}} {
		request := fetching(group, topic, 0)
		request.Groups[0].MemberID, request.Groups[0].MemberEpoch = c.member, c.epoch
		t.Ask(c.name+" of the new protocol", 9, request)
	}
}
