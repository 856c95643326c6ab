package clients

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

// consoleClient is the console producer and consumer of one version of Apache Kafka, which carry that version's Java client.
func consoleClient(version string) client {
	return client{
		name: "java-" + version, writes: compressions, reads: compressions,
		produce: func(t *testing.T, address, topic, compression string, records []record) {
			command := shellTool(t, version, "kafka-console-producer", "--bootstrap-server", address, "--topic", topic,
				"--compression-codec", compression, option(version, "--property", "--reader-property"), "parse.key=true")
			command.Input = tabSeparated(records)
			command.Run(t)
		},
		consume: func(t *testing.T, address, topic string, count int) []record {
			output := shellTool(t, version, "kafka-console-consumer", "--bootstrap-server", address, "--topic", topic,
				"--partition", "0", "--offset", "earliest", "--max-messages", strconv.Itoa(count), "--timeout-ms", "30000",
				option(version, "--property", "--formatter-property"), "print.key=true").Run(t)
			return fromTabSeparated(t, output)
		},
	}
}

// option is the name of an option that has another one from Apache Kafka 4 on.
func option(version, before, since4 string) string {
	if strings.HasPrefix(version, "4") {
		return since4
	}
	return before
}

// shellTool is a shell tool of Apache Kafka.
func shellTool(t *testing.T, version, name string, arguments ...string) harness.Command {
	t.Helper()
	return harness.Command{
		Program:   filepath.Join(harness.ShellTools(t, version), name+".sh"),
		Arguments: arguments,
		Env:       []string{"KAFKA_JIT=1", "KAFKA_HEAP=256m"},
		Timeout:   2 * time.Minute,
	}
}

func fromTabSeparated(t *testing.T, text string) []record {
	t.Helper()
	var records []record
	for line := range strings.Lines(text) {
		key, value, found := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !found {
			t.Fatalf("%q is no key and value", line)
		}
		records = append(records, record{Key: key, Value: value})
	}
	return records
}
