package brokertest

import (
	"bytes"
	"sync"
	"testing"
)

// logLimit is how many bytes of the end of the log are kept for a test that fails.
const logLimit = 64 << 10

// testLog takes the broker's log lines and shows them at the end of a test that failed, or at once.
type testLog struct {
	t       testing.TB
	verbose bool

	mutex    sync.Mutex
	text     []byte
	finished bool
}

func newTestLog(t testing.TB, verbose bool) *testLog { return &testLog{t: t, verbose: verbose} }

// Write takes one line.
func (l *testLog) Write(line []byte) (int, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	switch {
	case l.finished: // a test that has ended must not be logged to
	case l.verbose:
		l.t.Logf("broker: %s", bytes.TrimSpace(line))
	default:
		l.text = append(l.text, line...)
		if excess := len(l.text) - logLimit; excess > logLimit {
			l.text = append(l.text[:0], l.text[excess:]...)
		}
	}
	return len(line), nil
}

func (l *testLog) finish() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.finished = true
	if l.t.Failed() && len(l.text) > 0 {
		l.t.Logf("the broker's log:\n%s", l.text)
	}
}
