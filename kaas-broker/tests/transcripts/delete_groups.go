package transcripts

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func deleteGroups(groups ...string) *kmsg.DeleteGroupsRequest {
	request := kmsg.NewPtrDeleteGroupsRequest()
	request.Groups = groups
	return request
}

func deleteGroupsScript(t *Talk) {
	const group = "delete-groups"
	t.Coordinated(group)
	t.Topic(group, 2)
	t.AskEach("an unknown group", 0, 2, deleteGroups(group+"-unknown"))
	for _, id := range groupIDs {
		t.Ask(id.name, 2, deleteGroups(id.id))
	}
	t.AskEach("no group", 0, 2, deleteGroups())
	t.Reserved(group+"-reserved", "reserved", "range")
	t.Ask("a group with a reserved id", 2, deleteGroups(group+"-reserved"))
	member, generation := t.Joined(group, "member", "range")
	t.AskEach("a group without assignments", 0, 2, deleteGroups(group))
	t.synced(group, member, generation, member, "a")
	t.AskEach("a stable group", 0, 2, deleteGroups(group))
	t.Prepare(8, committing(group, member, generation, group, 0, 1))
	t.Prepare(5, leaving(group, member, ""))
	t.Ask("an empty group, an unknown and a group twice", 2, deleteGroups(group, group+"-unknown", group))
	t.Ask("its offsets", 8, fetchingAll(group))
	t.State("a deleted group", group)
	t.Ask("it again", 2, deleteGroups(group))
	t.Ask("its former member", 5, joining(group, member, "range"))
	t.Prepare(8, committing(group+"-simple", "", simple, group, 0, 1))
	t.Ask("a group of a simple consumer", 2, deleteGroups(group+"-simple"))
	t.Ask("the offsets of a simple consumer", 8, fetchingAll(group+"-simple"))
	deleteGroupsWithTopic(t, group)
}

// gone waits until a broker has removed a group by itself.
func (t *Talk) gone(group string) {
	t.test.Helper()
	for range 100 {
		if t.Prepare(5, describeGroups(group)).(*kmsg.DescribeGroupsResponse).Groups[0].State == "Dead" {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// deleteGroupsWithTopic deletes a topic, which takes the offsets along.
func deleteGroupsWithTopic(t *Talk, group string) {
	const topic = "delete-groups-topic"
	t.Topic(topic, 1)
	t.Prepare(8, committing(group+"-both", "", simple, group, 0, 1))
	t.Prepare(8, committing(group+"-both", "", simple, topic, 0, 2))
	t.Prepare(8, committing(group+"-one", "", simple, topic, 0, 2))
	t.Prepare(6, deleteNamed(topic))
	t.Settle()
	t.Ask("offsets when a topic is deleted", 8, fetchingAll(group+"-both"))
	t.Ask("all offsets of the deleted topic", 8, fetchingAll(group+"-one"))
	t.gone(group + "-one")
	t.State("a group whose only topic is deleted", group+"-one")
	t.Topic(topic, 1)
	t.Ask("offsets when the topic is made again", 8, fetching(group+"-both", topic, 0))
}
