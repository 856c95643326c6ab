package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

// connectWorker is one worker of Kafka Connect in distributed mode: all that it knows is in three topics.
type connectWorker struct {
	t       *testing.T
	rest    string
	command harness.Command
	process *harness.Process
}

// newConnectWorker makes a worker with settings as key=value. It does not run yet.
func newConnectWorker(t *testing.T, address string, settings ...string) *connectWorker {
	t.Helper()
	rest := harness.FreeAddress(t)
	file := filepath.Join(t.TempDir(), "worker.properties")
	text := strings.Join(append([]string{
		"bootstrap.servers=" + address, "group.id=connect", "listeners=http://" + rest, "plugin.discovery=service_load",
		"key.converter=org.apache.kafka.connect.storage.StringConverter", "value.converter=org.apache.kafka.connect.storage.StringConverter",
		"config.storage.topic=connect-configs", "offset.storage.topic=connect-offsets", "status.storage.topic=connect-status",
		"config.storage.replication.factor=1", "offset.storage.replication.factor=1", "status.storage.replication.factor=1",
		"offset.flush.interval.ms=200", "scheduled.rebalance.max.delay.ms=0", "session.timeout.ms=3000", "heartbeat.interval.ms=500",
		"consumer.session.timeout.ms=3000", "consumer.heartbeat.interval.ms=500",
	}, settings...), "\n")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return &connectWorker{t: t, rest: rest, command: shellTool(t, "3.7.2", "connect-distributed", file)}
}

// start runs the worker and waits until it is a member of its group.
func (w *connectWorker) start() {
	w.t.Helper()
	w.process = harness.Launch(w.t, w.command, nil)
	eventually(w.t, time.Minute, func() error {
		if w.process.Left() {
			w.t.Fatalf("the worker has left: %s", w.process.Errors())
		}
		_, err := w.ask(http.MethodGet, "/connectors", nil)
		return err
	})
}

// connect makes or changes a connector.
func (w *connectWorker) connect(name string, config map[string]string) {
	w.t.Helper()
	// While workers rebalance the answer is 409.
	eventually(w.t, time.Minute, func() error {
		_, err := w.ask(http.MethodPut, "/connectors/"+name+"/config", config)
		return err
	})
}

// awaitRunning waits until the connector and its only task run.
func (w *connectWorker) awaitRunning(name string) {
	w.t.Helper()
	eventually(w.t, time.Minute, func() error {
		text, err := w.ask(http.MethodGet, "/connectors/"+name+"/status", nil)
		if err != nil {
			return err
		}
		var status struct {
			Connector struct{ State string }
			Tasks     []struct{ State string }
		}
		if err := json.Unmarshal(text, &status); err != nil {
			return err
		}
		if status.Connector.State != "RUNNING" || len(status.Tasks) != 1 || status.Tasks[0].State != "RUNNING" {
			return fmt.Errorf("%s is in state %s", name, text)
		}
		return nil
	})
}

func (w *connectWorker) ask(method, path string, content any) ([]byte, error) {
	body, err := json.Marshal(content)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(w.t.Context(), 20*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, "http://"+w.rest+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode >= 300 {
		err = fmt.Errorf("%s %s: %s: %s", method, path, response.Status, text)
	}
	return text, err
}

// textFile is a file of numbered lines, which grows.
type textFile struct {
	t    *testing.T
	path string
	// prefix begins each line.
	prefix string
	lines  []string
}

func (f *textFile) grow(count int) {
	f.t.Helper()
	file, err := os.OpenFile(f.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		f.t.Fatal(err)
	}
	defer file.Close()
	for range count {
		line := fmt.Sprintf("%s %d", f.prefix, len(f.lines))
		f.lines = append(f.lines, line)
		if _, err := fmt.Fprintln(file, line); err != nil {
			f.t.Fatal(err)
		}
	}
}

// awaitCopy waits until every line is in the other file, in order of first appearance, and returns all of that file.
func (f *textFile) awaitCopy(path string) []string {
	f.t.Helper()
	var all []string
	eventually(f.t, time.Minute, func() error {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		all = strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
		if first := firstAppearances(all); !slices.Equal(first, f.lines) {
			return fmt.Errorf("%d lines of %d have come", len(first), len(f.lines))
		}
		return nil
	})
	return all
}

func firstAppearances(lines []string) []string {
	var first []string
	seen := map[string]bool{}
	for _, line := range lines {
		if !seen[line] {
			first = append(first, line)
		}
		seen[line] = true
	}
	return first
}

// A file goes into a topic and out of it into another file, while the worker is restarted and killed and the broker is killed. The worker knows only from
// its topics what it has to do and where it was: no line is lost, and a restart without a kill repeats none.
func TestConnectCopiesAFile(t *testing.T) {
	broker := harness.Start(t, harness.Options{Overrides: inChurn, Decodes: []string{"compact-keys"}})
	folder, topic := t.TempDir(), uniqueName(t)
	in, out := &textFile{t: t, path: filepath.Join(folder, "in"), prefix: "line"}, filepath.Join(folder, "out")
	worker := newConnectWorker(t, broker.Bootstrap())
	worker.start()
	in.grow(100)
	createTopic(t, broker.Bootstrap(), topic, 1)
	worker.connect("source", map[string]string{"connector.class": "FileStreamSource", "file": in.path, "topic": topic})
	worker.connect("sink", map[string]string{
		"connector.class": "FileStreamSink", "file": out, "topics": topic,
	})
	in.awaitCopy(out)
	for _, internal := range []struct {
		topic      string
		partitions int
	}{{"connect-configs", 1}, {"connect-offsets", 25}, {"connect-status", 5}} {
		if policy := topicConfig(t, broker.Bootstrap(), internal.topic, "cleanup.policy"); policy != "compact" {
			t.Errorf("%s has the policy %s", internal.topic, policy)
		}
		if got := partitionsOf(t, newFranz(t, broker.Bootstrap()), internal.topic); got != internal.partitions {
			t.Errorf("%s has %d partitions, want %d", internal.topic, got, internal.partitions)
		}
	}

	worker.process.Terminate(t, time.Minute)
	in.grow(100)
	worker.start()
	if all := in.awaitCopy(out); len(all) != len(in.lines) {
		t.Errorf("%d lines after a restart, want %d", len(all), len(in.lines))
	}

	in.grow(100)
	worker.process.Kill()
	broker.Kill(t)
	broker.Resume(t)
	in.grow(100)
	worker.start()
	in.awaitCopy(out)
	worker.awaitRunning("source")
	worker.awaitRunning("sink")
	worker.process.Terminate(t, time.Minute)
}

// A source with exactly-once support, whose worker and broker are killed: each line is in the topic once.
func TestConnectSourceExactlyOnce(t *testing.T) {
	harness.Long(t)
	broker := harness.Start(t, harness.Options{Overrides: inTransactions, Decodes: []string{"compact-keys"}})
	topic := uniqueName(t)
	createTopic(t, broker.Bootstrap(), topic, 1)
	in := &textFile{t: t, path: filepath.Join(t.TempDir(), "in"), prefix: "line"}
	worker := newConnectWorker(t, broker.Bootstrap(), "exactly.once.source.support=enabled")
	worker.start()
	worker.connect("source", map[string]string{
		"connector.class": "FileStreamSource", "file": in.path, "topic": topic, "exactly.once.support": "required",
	})
	for round := range harness.Rounds(2, 10) {
		// What is read at once is one transaction.
		for range 20 + 10*round {
			in.grow(10)
			time.Sleep(10 * time.Millisecond)
		}
		worker.process.Kill()
		if round%2 == 1 {
			broker.Kill(t)
			broker.Resume(t)
		}
		in.grow(100)
		worker.start()
	}
	consumer := newFranz(t, broker.Bootstrap(), kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	records := append(poll(t, consumer, time.Minute, len(in.lines)), poll(t, consumer, time.Second, -1)...)
	for i, r := range records {
		if i >= len(in.lines) || string(r.Value) != in.lines[i] {
			t.Fatalf("record %d is %q", i, r.Value)
		}
	}
	if len(records) != len(in.lines) {
		t.Errorf("%d records of %d lines", len(records), len(in.lines))
	}
	worker.process.Terminate(t, time.Minute)
}

// Two workers share the connectors of their group. When one is killed the other one goes on with all of them, and gives some back when it returns.
func TestConnectWorkersShareConnectors(t *testing.T) {
	harness.Long(t)
	broker := harness.Start(t, harness.Options{Overrides: inChurn, Decodes: []string{"compact-keys"}})
	folder, topic := t.TempDir(), uniqueName(t)
	workers := []*connectWorker{newConnectWorker(t, broker.Bootstrap()), newConnectWorker(t, broker.Bootstrap())}
	for _, w := range workers {
		w.start()
	}
	createTopic(t, broker.Bootstrap(), topic, 1)
	var files []*textFile
	for i := range 4 {
		name := fmt.Sprintf("source-%d", i)
		files = append(files, &textFile{t: t, path: filepath.Join(folder, name), prefix: name})
		files[i].grow(50)
		workers[0].connect(name, map[string]string{"connector.class": "FileStreamSource", "file": files[i].path, "topic": topic})
	}
	await := func() {
		t.Helper()
		for _, f := range files {
			eventually(t, time.Minute, func() error {
				if got := f.among(franzConsume(t, broker.Bootstrap(), topic, int(endOffset(t, broker.Bootstrap(), topic, 0)))); !slices.Equal(got, f.lines) {
					return fmt.Errorf("%d lines of %d of %s have come", len(got), len(f.lines), f.prefix)
				}
				return nil
			})
		}
	}
	await()
	for round := range harness.Rounds(2, 10) {
		killed, other := workers[round%2], workers[(round+1)%2]
		killed.process.Kill()
		for _, f := range files {
			f.grow(50)
		}
		await()
		killed.start()
		for i := range files {
			other.awaitRunning(fmt.Sprintf("source-%d", i))
		}
		eventually(t, 30*time.Second, func() error {
			shared := map[string]bool{}
			for i := range files {
				text, err := other.ask(http.MethodGet, fmt.Sprintf("/connectors/source-%d/status", i), nil)
				if err != nil {
					return err
				}
				for _, w := range workers {
					shared[w.rest] = shared[w.rest] || strings.Contains(string(text), w.rest)
				}
			}
			if !shared[workers[0].rest] || !shared[workers[1].rest] {
				return fmt.Errorf("one worker has everything: %v", shared)
			}
			return nil
		})
	}
	for _, w := range workers {
		w.process.Terminate(t, time.Minute)
	}
}

// among finds the lines of this file, in order of first appearance.
func (f *textFile) among(records []record) []string {
	var lines []string
	for _, r := range records {
		if strings.HasPrefix(r.Value, f.prefix+" ") {
			lines = append(lines, r.Value)
		}
	}
	return firstAppearances(lines)
}
