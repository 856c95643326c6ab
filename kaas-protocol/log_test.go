package protocol_test

import (
	"bytes"
	"strings"
	"sync"

	"github.com/rs/zerolog"
)

// log collects what a server logs.
type log struct {
	mutex sync.Mutex
	lines bytes.Buffer
}

func newLog() *log { return &log{} }

func (l *log) logger() zerolog.Logger { return zerolog.New(l) }

func (l *log) Write(p []byte) (int, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.lines.Write(p)
}

func (l *log) count(text string) int {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return strings.Count(l.lines.String(), text)
}
