package transcripts

import (
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// findCoordinator asks at every version for the coordinator of one key.
func findCoordinator(of int8, key string) *kmsg.FindCoordinatorRequest {
	request := kmsg.NewPtrFindCoordinatorRequest()
	request.CoordinatorType, request.CoordinatorKey, request.CoordinatorKeys = of, key, []string{key}
	return request
}

// groupIDs are ids that brokers may stumble over.
var groupIDs = []struct{ name, id string }{
	{"an empty id", ""},
	{"an id with a slash", "a/../b"},
	{"an id of dots", ".."},
	{"an id with a line break", "a\nb"},
	{"an id of 1000 bytes", strings.Repeat("g", 1000)},
	{"an id with an emoji", "grüppe-🦊"},
}

func findCoordinatorScript(t *Talk) {
	t.Coordinated("find-coordinator")
	t.AskEach("a group", 0, 4, findCoordinator(0, "find-coordinator"))
	for _, group := range groupIDs {
		t.Ask(group.name, 3, findCoordinator(0, group.id))
		t.Ask(group.name, 4, findCoordinator(0, group.id))
	}
	for _, of := range []int8{2, -1} {
		t.AskEach("type "+strconv.Itoa(int(of)), 1, 4, findCoordinator(of, "find-coordinator"))
	}
	t.transactional("find-coordinator", "producer")
	t.AskEach("a transactional id", 1, 4, findCoordinator(1, "find-coordinator"))
	for _, id := range groupIDs {
		t.Ask("a transactional id: "+id.name, 4, findCoordinator(1, id.id))
	}
	several := findCoordinator(0, "a")
	several.CoordinatorKeys = []string{"b", "a", "b", ""}
	t.Ask("several groups, one twice", 4, several)
	none := findCoordinator(0, "a")
	none.CoordinatorKeys = nil
	t.Ask("no group", 4, none)
}
