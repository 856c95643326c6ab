package transcripts

import "github.com/twmb/franz-go/pkg/kmsg"

func deletingOffsets(group, topic string, partitions ...int32) *kmsg.OffsetDeleteRequest {
	request := kmsg.NewPtrOffsetDeleteRequest()
	request.Group = group
	wanted := kmsg.OffsetDeleteRequestTopic{Topic: topic}
	for _, partition := range partitions {
		wanted.Partitions = append(wanted.Partitions, kmsg.OffsetDeleteRequestTopicPartition{Partition: partition})
	}
	request.Topics = []kmsg.OffsetDeleteRequestTopic{wanted}
	return request
}

// subscribing is joining with a subscription that brokers can read.
func subscribing(group, member string, topics ...string) *kmsg.JoinGroupRequest {
	subscription := kmsg.NewConsumerMemberMetadata()
	subscription.Topics = topics
	request := joining(group, member, "range")
	request.Protocols[0].Metadata = subscription.AppendTo(nil)
	return request
}

func offsetDeleteScript(t *Talk) {
	const group, topic, other = "offset-delete", "offset-delete", "offset-delete-other"
	t.Coordinated(group)
	t.Topic(topic, 3)
	t.Topic(other, 1)
	t.Ask("an unknown group", 0, deletingOffsets(group, topic, 0))
	for _, id := range groupIDs {
		t.Ask(id.name, 0, deletingOffsets(id.id, topic, 0))
	}
	for partition := range int32(3) {
		t.Prepare(8, committing(group, "", simple, topic, partition, 5))
	}
	t.Prepare(8, committing(group, "", simple, other, 0, 5))
	t.Ask("an offset", 0, deletingOffsets(group, topic, 0))
	t.Ask("an offset again", 0, deletingOffsets(group, topic, 0))
	t.Ask("an unknown partition", 0, deletingOffsets(group, topic, 7, -1))
	t.Ask("an unknown topic", 0, deletingOffsets(group, "offset-delete-unknown", 0))
	t.Ask("an invalid name", 0, deletingOffsets(group, "..", 0))
	none := deletingOffsets(group, topic)
	t.Ask("no partition", 0, none)
	none.Topics = nil
	t.Ask("no topic", 0, none)
	t.Ask("a known and an unknown partition, and one twice", 0, deletingOffsets(group, topic, 1, 9, 1))
	t.Ask("what is left", 8, fetchingAll(group))
	offsetDeleteSubscribed(t, group, topic, other)
	t.Ask("all offsets", 0, deletingOffsets(group, topic, 0, 1, 2))
	t.State("a group with another topic's offset", group)
	t.Ask("the last offset", 0, deletingOffsets(group, other, 0))
	t.State("a group without offsets", group)
	t.Ask("an offset of a group that is gone", 0, deletingOffsets(group, other, 0))
}

func offsetDeleteSubscribed(t *Talk, group, topic, other string) {
	member := t.Prepare(3, subscribing(group, "", other)).(*kmsg.JoinGroupResponse)
	t.Member(member.MemberID, "member")
	t.Ask("a subscribed topic before the assignment", 0, deletingOffsets(group, other, 0))
	t.synced(group, member.MemberID, member.Generation, member.MemberID, "a")
	t.Ask("a subscribed topic", 0, deletingOffsets(group, other, 0))
	both := deletingOffsets(group, topic, 2)
	both.Topics = append(both.Topics, deletingOffsets(group, other, 0).Topics...)
	t.Ask("a subscribed topic and another", 0, both)
	t.Ask("what members have left", 8, fetchingAll(group))
	t.Prepare(5, leaving(group, member.MemberID, ""))
	opaque := joining(group+"-opaque", "", "range")
	opaque.ProtocolType = "connect"
	t.Prepare(3, opaque)
	t.Ask("a group of another type", 0, deletingOffsets(group+"-opaque", topic, 0))
	unreadable, _ := t.Stable(group+"-unreadable", "unreadable", "range")
	t.Ask("a subscription that nobody can read", 0, deletingOffsets(group+"-unreadable", topic, 0))
	t.Prepare(5, leaving(group+"-unreadable", unreadable, ""))
}
