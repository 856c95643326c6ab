package topicconfig

import (
	"fmt"
	"math"
	"regexp"
	"strings"

	"github.com/kaas-rs/kaas/kaas-broker/config/configdef"
)

// maxValueBytes is what a text on the wire may have (Kafka's Short.MAX_VALUE). A list grows by what is appended, and a longer one could be neither told to
// clients nor, in the end, read back from its manifest.
const maxValueBytes = math.MaxInt16

// checkLength refuses a value that is too long. The error is a *configdef.ValueError with its beginning.
func checkLength(name, text string) error {
	if len(text) <= maxValueBytes {
		return nil
	}
	return &configdef.ValueError{Name: name, Value: strings.ToValidUTF8(text[:60], "") + "…", Reason: fmt.Sprintf("Value is longer than %d bytes", maxValueBytes)}
}

var throttledReplica = regexp.MustCompile(`^[0-9]+:[0-9]+$`)

// throttledReplicas accepts the empty list, a single *, or pairs of partition and broker.
func throttledReplicas(_ string, v configdef.Value) (string, string) {
	list := v.List()
	if len(list) == 1 && list[0] == "*" {
		return "", ""
	}
	for _, element := range list {
		if !throttledReplica.MatchString(element) {
			return "[" + strings.Join(list, ", ") + "]", "Value must be * or a list of partition:broker pairs"
		}
	}
	return "", ""
}

// release matches the version names that a Kafka 3.7 accepts: three numbers below 1.0, two from there on, with a
// patch number or a feature level behind them.
var release = regexp.MustCompile(`^(0\.(8\.[0-2]|9\.0|10\.[0-2]|11\.0)|1\.[01]|2\.[0-8]|3\.[0-8])(-IV[0-9]|\.[0-9.]+)?$`)

func formatVersion(_ string, v configdef.Value) (string, string) {
	if release.MatchString(v.Text()) {
		return "", ""
	}
	return v.Text(), "Version " + v.Text() + " is not a valid version"
}

func notTiered(_ string, v configdef.Value) (string, string) {
	if !v.Bool() {
		return "", ""
	}
	return v.Text(), "Tiered storage is not available on this broker"
}
