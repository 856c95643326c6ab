package clients

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

var notInNames = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// uniqueName is a topic name that tells which test made it and that no earlier run on the same broker has used.
func uniqueName(t *testing.T) string {
	t.Helper()
	name := strings.ToLower(notInNames.ReplaceAllString(t.Name(), "-"))
	return name + "-" + strconv.FormatInt(time.Now().UnixMicro()%1e9, 36)
}
