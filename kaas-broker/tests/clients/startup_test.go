package clients

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

// kaas that is not expected to come up: on a free port, without a health port.
func startFails(t *testing.T, prefix []string, arguments ...string) harness.Result {
	t.Helper()
	harness.NeedKaas(t)
	words := append(prefix, harness.Binary(t), "--health-addr", "off", "--listeners", "PLAINTEXT://127.0.0.1:0")
	words = append(words, arguments...)
	result := harness.Command{Program: words[0], Arguments: words[1:], Timeout: 20 * time.Second}.Try(t)
	if result.Status == 0 {
		t.Errorf("left with status 0:\n%s%s", result.Output, result.Errors)
	}
	return result
}

// One clear line, and a status that is not zero.
func TestStartThatFailsSaysWhy(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tested := range []struct {
		name      string
		prefix    []string
		arguments func(t *testing.T) []string
		want      []string
	}{
		{
			name:      "port in use",
			arguments: func(t *testing.T) []string { return []string{"--listeners", "PLAINTEXT://" + busy.Addr().String()} },
			want:      []string{busy.Addr().String(), "in use"},
		},
		{
			name:      "read-only data directory",
			arguments: func(t *testing.T) []string { return []string{"--data-dir", harness.Volume(t, 1<<20, true)} },
			want:      []string{"read-only"},
		},
		{
			name:      "data directory that is a file",
			arguments: func(t *testing.T) []string { return []string{"--data-dir", file} },
			want:      []string{file},
		},
		{
			name:      "few file descriptors",
			prefix:    []string{"bash", "-c", `ulimit -n 40; exec "$@"`, "bash"},
			arguments: func(t *testing.T) []string { return []string{"--data-dir", t.TempDir()} },
			want:      []string{"only 40 open files", "ulimit -n"},
		},
		{
			name: "several wrong settings at once",
			arguments: func(t *testing.T) []string {
				return []string{"--override", "num.partitions=many", "--override", "log.retention.hour=1"}
			},
			want: []string{"num.partitions", "did you mean log.retention.hours"},
		},
		{
			name:      "missing configuration file",
			arguments: func(t *testing.T) []string { return []string{"--config", file + ".properties"} },
			want:      []string{file + ".properties"},
		},
		{
			name:      "unknown flag",
			arguments: func(t *testing.T) []string { return []string{"--datadir", "x"} },
			want:      []string{"--datadir"},
		},
	} {
		t.Run(tested.name, func(t *testing.T) {
			result := startFails(t, tested.prefix, tested.arguments(t)...)
			for _, want := range tested.want {
				if !strings.Contains(result.Output+result.Errors, want) {
					t.Errorf("does not say %q:\n%s%s", want, result.Output, result.Errors)
				}
			}
			if strings.Contains(result.Errors, "goroutine ") {
				t.Errorf("panicked:\n%s", result.Errors)
			}
		})
	}
}

// A directory that a later version has written is left as it is.
func TestDataDirectoryOfAFutureVersionIsRefused(t *testing.T) {
	harness.NeedKaas(t)
	broker := harness.Start(t, harness.Options{})
	topic := uniqueName(t)
	createTopic(t, broker.Bootstrap(), topic, 1)
	franzProduce(t, broker.Bootstrap(), topic, numbered("franz", 10))
	broker.Stop(t)

	stamp := filepath.Join(broker.Dir(), ".kaas-volume.json")
	before, err := os.ReadFile(stamp)
	if err != nil {
		t.Fatal(err)
	}
	future := strings.Replace(string(before), `"version":1`, `"version":7`, 1)
	if future == string(before) {
		t.Fatalf("no version in %s", before)
	}
	if err := os.WriteFile(stamp, []byte(future), 0o600); err != nil {
		t.Fatal(err)
	}
	result := startFails(t, nil, "--data-dir", broker.Dir())
	if !strings.Contains(result.Output+result.Errors, "version") {
		t.Errorf("does not speak of a version:\n%s%s", result.Output, result.Errors)
	}
	if after, err := os.ReadFile(stamp); err != nil || string(after) != future {
		t.Errorf("the stamp changed: %v, %s", err, after)
	}

	if err := os.WriteFile(stamp, before, 0o600); err != nil {
		t.Fatal(err)
	}
	broker.Resume(t)
	compare(t, franzConsume(t, broker.Bootstrap(), topic, 10), numbered("franz", 10))
}

// Two processes on one directory: the second one takes over, the first one leaves and says so, and nothing is lost.
func TestSecondProcessTakesTheDirectoryOver(t *testing.T) {
	harness.NeedKaas(t)
	first := harness.Start(t, harness.Options{})
	topic := uniqueName(t)
	createTopic(t, first.Bootstrap(), topic, 1)
	franzProduce(t, first.Bootstrap(), topic, numbered("first", 50))
	second := harness.Start(t, harness.Options{Dir: first.Dir()})
	franzProduce(t, second.Bootstrap(), topic, numbered("second", 50))
	if status := first.WaitLeft(t, 30*time.Second); status == 0 {
		t.Error("the first process left with status 0")
	}
	if !strings.Contains(first.Log(), "another process") {
		t.Errorf("the first process does not say why it left:\n%s", first.Log())
	}
	compare(t, franzConsume(t, second.Bootstrap(), topic, 100), append(numbered("first", 50), numbered("second", 50)...))
}

// A file of settings for Apache Kafka starts kaas as it is.
func TestServerPropertiesOfApacheKafka(t *testing.T) {
	harness.NeedKaas(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "server.properties")
	text := strings.Join([]string{
		"# The lines that a broker's file usually has.", "broker.id=0", "num.network.threads=3", "num.io.threads=8",
		"socket.send.buffer.bytes=102400", "socket.receive.buffer.bytes=102400", "socket.request.max.bytes=104857600",
		"num.partitions=3", "num.recovery.threads.per.data.dir=1", "offsets.topic.replication.factor=1",
		"transaction.state.log.replication.factor=1", "transaction.state.log.min.isr=1", "log.retention.hours=168",
		"log.segment.bytes=1073741824", "log.retention.check.interval.ms=300000", "auto.create.topics.enable=true", "log.dirs=" + dir + "/data",
	}, "\n")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	broker := harness.Start(t, harness.Options{Mode: harness.Dev, Flags: []string{"--config", file}})
	topic := uniqueName(t)
	kcatProduce(t, broker.Bootstrap(), topic, numbered("kcat", 5))
	if got := partitionsOf(t, newFranz(t, broker.Bootstrap()), topic); got != 3 {
		t.Errorf("%d partitions, want the file's 3", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "data", ".kaas-volume.json")); err != nil {
		t.Errorf("log.dirs is not the data directory: %v", err)
	}
}
