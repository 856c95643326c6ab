package transcripts

import (
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// otherKeys hides the APIs that no script is about.
func otherKeys() []string {
	const largest = 120
	var masks []string
	for key := range int16(largest) {
		if !slices.Contains([]int16{0, 1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 15, 16, keyAPIVersions, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 32, 37, 42, 44, 47, 60, 61, 65, 66, 75}, key) {
			masks = append(masks, "-ApiKeys["+strconv.Itoa(int(key))+"]")
		}
	}
	return masks
}

func apiVersionsScript(t *Talk) {
	otherKeys := otherKeys()
	request := kmsg.NewPtrApiVersionsRequest()
	request.ClientSoftwareName, request.ClientSoftwareVersion = "transcripts", "1.0"
	t.AskEach("the keys of this broker", 0, 3, request, otherKeys...)
	for _, software := range []struct{ name, version string }{
		{"", ""}, {"", "1"}, {"name", ""}, {"two words", "1"}, {"name", "a b"}, {"-name", "1"}, {"name-", "1"}, {"näme", "1"}, {"a.b-c", "1.2-rc3"}, {"name", "v_1"},
	} {
		request := kmsg.NewPtrApiVersionsRequest()
		request.ClientSoftwareName, request.ClientSoftwareVersion = software.name, software.version
		t.Ask("software "+software.name+"/"+software.version, 3, request, otherKeys...)
	}
	for _, version := range []int16{4, 5, 99, -1, -32768} {
		frame := requestHeader(keyAPIVersions, version, 1, new(clientID), true)
		t.frame("a version that does not exist", keyAPIVersions, version, 0, sized(append(frame, "whatever"...)), otherKeys)
	}
	frame := requestHeader(keyAPIVersions, 4, 1, new(clientID), false)
	t.frame("a version that does not exist, without tags", keyAPIVersions, 4, 0, sized(frame), otherKeys)
}
