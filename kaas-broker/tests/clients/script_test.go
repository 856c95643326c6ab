package clients

import (
	"bufio"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

// script is a client in another language: a program that takes "produce" or "consume", then key=value arguments, and reads or writes
// one JSON object with key and value a line.
type script struct {
	name          string
	writes, reads []string
	// command finds the program, or skips the test.
	command func(t *testing.T) harness.Command
}

func (s script) client() client {
	return client{
		name: s.name, writes: s.writes, reads: s.reads,
		produce: func(t *testing.T, address, topic, compression string, records []record) {
			s.produce(t, address, topic, records, "compression="+compression)
		},
		consume: func(t *testing.T, address, topic string, count int) []record {
			return s.consume(t, address, topic, count)
		},
	}
}

func (s script) produce(t *testing.T, address, topic string, records []record, arguments ...string) {
	t.Helper()
	s.write(t, "produce", address, topic, records, arguments...)
}

// write runs a verb that takes records.
func (s script) write(t *testing.T, verb, address, topic string, records []record, arguments ...string) {
	t.Helper()
	command := s.command(t)
	command.Arguments = append(command.Arguments, append([]string{verb, "bootstrap=" + address, "topic=" + topic}, arguments...)...)
	var input strings.Builder
	encoder := json.NewEncoder(&input)
	for _, r := range records {
		if err := encoder.Encode(r); err != nil {
			t.Fatal(err)
		}
	}
	command.Input = input.String()
	command.Run(t)
}

func (s script) consume(t *testing.T, address, topic string, count int, arguments ...string) []record {
	t.Helper()
	return s.read(t, "consume", address, topic, count, arguments...)
}

// read runs the verb that reads records.
func (s script) read(t *testing.T, verb, address, topic string, count int, arguments ...string) []record {
	t.Helper()
	command := s.command(t)
	command.Arguments = append(command.Arguments, append([]string{
		verb, "bootstrap=" + address, "topic=" + topic, "count=" + strconv.Itoa(count),
	}, arguments...)...)
	command.Timeout = time.Minute
	var records []record
	lines := bufio.NewScanner(strings.NewReader(command.Run(t)))
	lines.Buffer(nil, 32<<20)
	for lines.Scan() {
		var r record
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatalf("%s wrote %.200q: %v", s.name, lines.Text(), err)
		}
		records = append(records, r)
	}
	return records
}

func python(name string) func(t *testing.T) harness.Command {
	return func(t *testing.T) harness.Command {
		return harness.Command{Program: harness.Suite(t, "python/bin/python"), Arguments: []string{"python/" + name}}
	}
}
