package clients

import (
	"bufio"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

func kcatClient() client {
	return client{
		name: "kcat", writes: compressions, reads: compressions,
		produce: func(t *testing.T, address, topic, compression string, records []record) {
			kcatProduce(t, address, topic, records, "-z", compression)
		},
		consume: kcatConsume,
	}
}

func kcat(t *testing.T, address string, arguments ...string) harness.Command {
	t.Helper()
	return harness.Command{Program: harness.Find(t, "kcat"), Arguments: append([]string{"-b", address}, arguments...)}
}

func kcatProduce(t *testing.T, address, topic string, records []record, arguments ...string) {
	t.Helper()
	command := kcat(t, address, append([]string{"-P", "-t", topic, "-p", "0", "-K", "\t"}, arguments...)...)
	command.Input = tabSeparated(records)
	command.Run(t)
}

// kcatConsume reads exactly count records, and says so at once if there are fewer.
func kcatConsume(t *testing.T, address, topic string, count int) []record {
	t.Helper()
	output := kcat(t, address, "-C", "-t", topic, "-p", "0", "-o", "beginning", "-c", strconv.Itoa(count), "-e", "-J").Run(t)
	var records []record
	lines := bufio.NewScanner(strings.NewReader(output))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var line struct{ Key, Payload string }
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatalf("kcat wrote %q: %v", lines.Text(), err)
		}
		records = append(records, record{Key: line.Key, Value: line.Payload})
	}
	return records
}

// tabSeparated writes one record a line.
func tabSeparated(records []record) string {
	var text strings.Builder
	for _, r := range records {
		fmt.Fprintf(&text, "%s\t%s\n", r.Key, r.Value)
	}
	return text.String()
}

func TestKcatListsTheBroker(t *testing.T) {
	broker := harness.Start(t, harness.Options{})
	topic := uniqueName(t)
	createTopic(t, broker.Bootstrap(), topic, 3)
	output := kcat(t, broker.Bootstrap(), "-L").Run(t)
	for _, want := range []string{"1 brokers:", broker.Bootstrap(), fmt.Sprintf("topic %q with 3 partitions:", topic)} {
		if !strings.Contains(output, want) {
			t.Errorf("kcat -L does not say %q:\n%s", want, output)
		}
	}
}

func TestKcatIdempotentProducer(t *testing.T) {
	broker := harness.Start(t, harness.Options{})
	topic := uniqueName(t)
	createTopic(t, broker.Bootstrap(), topic, 1)
	records := numbered("kcat", 2000)
	kcatProduce(t, broker.Bootstrap(), topic, records, "-X", "enable.idempotence=true", "-X", "batch.num.messages=50")
	compare(t, kcatConsume(t, broker.Bootstrap(), topic, len(records)), records)
}

func TestKcatOffsetForTime(t *testing.T) {
	broker := harness.Start(t, harness.Options{Decodes: []string{"timestamp-lookup"}})
	topic := uniqueName(t)
	createTopic(t, broker.Bootstrap(), topic, 1)
	kcatProduce(t, broker.Bootstrap(), topic, numbered("before", 5))
	time.Sleep(20 * time.Millisecond)
	between := time.Now().UnixMilli()
	time.Sleep(20 * time.Millisecond)
	kcatProduce(t, broker.Bootstrap(), topic, numbered("after", 5))
	for at, want := range map[int64]string{between: "offset 5", -1: "offset 10", -2: "offset 0"} {
		output := kcat(t, broker.Bootstrap(), "-Q", "-t", fmt.Sprintf("%s:0:%d", topic, at)).Run(t)
		if !strings.Contains(output, want) {
			t.Errorf("kcat -Q at %d says %q, want %s", at, output, want)
		}
	}
}

func TestKcatCreatesATopicByWriting(t *testing.T) {
	broker := harness.Start(t, harness.Options{})
	topic := uniqueName(t)
	records := numbered("kcat", 10)
	kcatProduce(t, broker.Bootstrap(), topic, records)
	compare(t, kcatConsume(t, broker.Bootstrap(), topic, len(records)), records)
}
