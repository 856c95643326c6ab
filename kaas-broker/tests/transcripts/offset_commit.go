package transcripts

import (
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// simple is the generation of a consumer that is in no group.
const simple int32 = -1

// committing commits one offset with leader epoch 0 and metadata "m".
func committing(group, member string, generation int32, topic string, partition int32, at int64) *kmsg.OffsetCommitRequest {
	request := kmsg.NewPtrOffsetCommitRequest()
	request.Group, request.MemberID, request.Generation, request.RetentionTimeMillis = group, member, generation, -1
	committed := kmsg.NewOffsetCommitRequestTopicPartition()
	committed.Partition, committed.Offset, committed.Metadata, committed.LeaderEpoch, committed.Timestamp = partition, at, new("m"), 0, -1
	request.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: topic, Partitions: []kmsg.OffsetCommitRequestTopicPartition{committed}}}
	return request
}

func offsetCommitScript(t *Talk) {
	const group, topic = "offset-commit", "offset-commit"
	t.Topic(topic, 3)
	t.Coordinated(group)
	t.AskEach("a simple consumer", 0, 9, committing(group, "", simple, topic, 0, 5))
	t.Ask("what a simple consumer has committed", 8, fetchingAll(group))
	for _, c := range []struct {
		name       string
		member     string
		generation int32
	}{
		{"a generation of an unknown group", "", 0},
		{"a member of an unknown group", "nobody", 1},
		{"a member without generation of an unknown group", "nobody", simple},
		{"generation -2 of an unknown group", "", -2},
	} {
		t.AskEach(c.name, 1, 9, committing(group+"-unknown", c.member, c.generation, topic, 0, 5))
		t.Ask("after "+c.name, 5, describeGroups(group+"-unknown"))
	}
	offsetCommitPartitions(t, group, topic)
	offsetCommitMembers(t, topic)
	offsetCommitValues(t, topic)
	for _, id := range groupIDs {
		t.Ask("a group with "+id.name, 8, committing(id.id, "", simple, topic, 0, 7))
		t.Ask("the offsets of a group with "+id.name, 8, fetchingAll(id.id))
	}
}

func offsetCommitPartitions(t *Talk, group, topic string) {
	t.AskEach("an unknown topic", 1, 9, committing(group, "", simple, "offset-commit-unknown", 0, 5))
	t.Ask("an unknown topic", 0, committing(group, "", simple, "offset-commit-unknown", 0, 5))
	t.Ask("an unknown partition", 8, committing(group, "", simple, topic, 3, 5))
	t.Ask("a negative partition", 8, committing(group, "", simple, topic, -1, 5))
	for _, what := range invalidOrder {
		t.Ask("an invalid name, "+what, 8, committing(group, "", simple, invalidNames[what], 0, 5))
	}
	mixed := committing(group, "", simple, topic, 1, 6)
	mixed.Topics = append(mixed.Topics, committing(group, "", simple, "offset-commit-unknown", 0, 5).Topics...)
	mixed.Topics[0].Partitions = append(mixed.Topics[0].Partitions, committing(group, "", simple, topic, 7, 5).Topics[0].Partitions...)
	t.Ask("known and unknown ones", 8, mixed)
	none := committing(group, "", simple, topic, 0, 5)
	none.Topics = nil
	t.AskEach("no topic", 1, 9, none)
	empty := committing(group, "", simple, topic, 0, 5)
	empty.Topics[0].Partitions = nil
	t.Ask("no partition", 8, empty)
}

func offsetCommitMembers(t *Talk, topic string) {
	const group = "offset-commit-members"
	member, generation := t.Joined(group, "member", "range")
	t.Ask("before the assignment", 8, committing(group, member, generation, topic, 0, 1))
	t.synced(group, member, generation, member, "a")
	t.AskEach("a member", 1, 9, committing(group, member, generation, topic, 0, 2))
	t.AskEach("an unknown member", 1, 9, committing(group, "nobody", generation, topic, 0, 3))
	t.Ask("the generation before", 8, committing(group, member, generation-1, topic, 0, 3))
	t.Ask("the next generation", 8, committing(group, member, generation+1, topic, 0, 3))
	t.Ask("a member without generation", 8, committing(group, member, simple, topic, 0, 3))
	t.Ask("a simple consumer beside members", 8, committing(group, "", simple, topic, 0, 3))
	t.Ask("no member with a generation", 8, committing(group, "", generation, topic, 0, 3))
	instance := committing(group, member, generation, topic, 0, 3)
	instance.InstanceID = new("nobody")
	t.AskEach("an unknown instance", 7, 9, instance)
	t.Ask("a refused member's unknown topic", 8, committing(group, "nobody", generation, "offset-commit-unknown", 0, 3))
	t.Ask("what the member has committed", 8, fetchingAll(group))
	t.Prepare(5, leaving(group, member, ""))
	t.Ask("a member that has left", 8, committing(group, member, generation, topic, 0, 4))
	t.Ask("a simple consumer when members have left", 8, committing(group, "", simple, topic, 0, 5))
	t.Ask("what is left", 8, fetchingAll(group))
}

func offsetCommitValues(t *Talk, topic string) {
	const group = "offset-commit-values"
	t.Coordinated(group)
	for _, c := range []struct {
		name string
		set  func(*kmsg.OffsetCommitRequestTopicPartition)
	}{
		{"no metadata", func(p *kmsg.OffsetCommitRequestTopicPartition) { p.Metadata = nil }},
		{"empty metadata", func(p *kmsg.OffsetCommitRequestTopicPartition) { p.Metadata = new("") }},
		{"metadata of 4096 bytes", func(p *kmsg.OffsetCommitRequestTopicPartition) { p.Metadata = new(strings.Repeat("m", 4096)) }},
		{"metadata of 4097 bytes", func(p *kmsg.OffsetCommitRequestTopicPartition) { p.Metadata = new(strings.Repeat("m", 4097)) }},
		{"metadata of 2049 letters of two bytes", func(p *kmsg.OffsetCommitRequestTopicPartition) { p.Metadata = new(strings.Repeat("ä", 2049)) }},
		{"offset 0", func(p *kmsg.OffsetCommitRequestTopicPartition) { p.Offset = 0 }},
		{"offset -1", func(p *kmsg.OffsetCommitRequestTopicPartition) { p.Offset = -1 }},
		{"the largest offset", func(p *kmsg.OffsetCommitRequestTopicPartition) { p.Offset = 1<<63 - 1 }},
		{"leader epoch -1", func(p *kmsg.OffsetCommitRequestTopicPartition) { p.LeaderEpoch = -1 }},
		{"leader epoch -2", func(p *kmsg.OffsetCommitRequestTopicPartition) { p.LeaderEpoch = -2 }},
		{"leader epoch 7", func(p *kmsg.OffsetCommitRequestTopicPartition) { p.LeaderEpoch = 7 }},
	} {
		request := committing(group, "", simple, topic, 0, 9)
		c.set(&request.Topics[0].Partitions[0])
		t.Ask(c.name, 8, request)
		t.Ask("committed: "+c.name, 8, fetchingAll(group), "-Groups[*].Topics[*].Partitions[*].Metadata")
	}
	large := committing(group, "", simple, topic, 0, 10)
	large.Topics[0].Partitions[0].Metadata = new(strings.Repeat("m", 5000))
	large.Topics[0].Partitions = append(large.Topics[0].Partitions, committing(group, "", simple, topic, 1, 11).Topics[0].Partitions...)
	t.AskEach("large metadata beside small", 1, 9, large)
	twice := committing(group, "", simple, topic, 2, 12)
	twice.Topics[0].Partitions = append(twice.Topics[0].Partitions, committing(group, "", simple, topic, 2, 13).Topics[0].Partitions...)
	t.Ask("a partition twice", 8, twice)
	old := committing(group, "", simple, topic, 1, 14)
	old.Topics[0].Partitions[0].Timestamp = time.Now().Add(-time.Hour).UnixMilli()
	t.Ask("a time of commit", 1, old)
	kept := committing(group, "", simple, topic, 1, 15)
	kept.RetentionTimeMillis = 1<<63 - 1
	t.AskEach("the longest retention", 2, 4, kept)
	t.Ask("all that is committed", 8, fetchingAll(group), "-Groups[*].Topics[*].Partitions[0]")
}

// offsetWithoutMetadataScript commits where no metadata is allowed.
func offsetWithoutMetadataScript(t *Talk) {
	const topic = "offset-without-metadata"
	t.Topic(topic, 2)
	t.Coordinated(topic)
	t.Ask("one letter", 8, committing(topic, "", simple, topic, 0, 1))
	bare := committing(topic, "", simple, topic, 0, 2)
	bare.Topics[0].Partitions[0].Metadata = new("")
	t.Ask("none", 8, bare)
	bare.Topics[0].Partitions[0].Metadata = nil
	bare.Topics[0].Partitions = append(bare.Topics[0].Partitions, committing(topic, "", simple, topic, 1, 3).Topics[0].Partitions...)
	t.Ask("none beside one letter", 8, bare)
	t.Ask("what is committed", 8, fetchingAll(topic))
}
