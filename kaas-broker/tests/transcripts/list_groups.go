package transcripts

import "github.com/twmb/franz-go/pkg/kmsg"

func listGroups(states ...string) *kmsg.ListGroupsRequest {
	request := kmsg.NewPtrListGroupsRequest()
	request.StatesFilter = states
	return request
}

func listGroupsScript(t *Talk) {
	t.AskEach("before there is any", 0, 4, listGroups())
	t.Coordinated("list-groups")
	t.AskEach("none", 0, 4, listGroups())
	t.Topic("list-groups", 1)
	t.Reserved("list-groups-reserved", "reserved", "range")
	t.Joined("list-groups-joined", "joined", "range")
	t.Stable("list-groups-stable", "stable", "range")
	t.Prepare(8, committing("list-groups-simple", "", simple, "list-groups", 0, 1))
	connect := joining("list-groups-connect", "", "range")
	connect.ProtocolType = "connect"
	t.Prepare(3, connect)
	left, _ := t.Stable("list-groups-empty", "left", "range")
	t.Prepare(5, leaving("list-groups-empty", left, ""))
	t.AskEach("all", 0, 4, listGroups())
	for _, state := range []string{"Stable", "Empty", "CompletingRebalance", "PreparingRebalance", "Dead", "stable", "Unknown", "", "Empty "} {
		t.Ask("state "+state+".", 4, listGroups(state))
	}
	t.Ask("two states", 4, listGroups("Stable", "Empty"))
	t.Ask("a state twice and one that does not exist", 4, listGroups("Stable", "Stable", "Nonsense"))
}
