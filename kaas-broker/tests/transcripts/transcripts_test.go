package transcripts

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

// settings are those of both brokers, beside the defaults of each: kaas has a smaller segment in memory, and syncs each append unless told otherwise.
func settings() map[string]string {
	return map[string]string{"node.id": "0", "log.segment.bytes": "1073741824", "log.flush.interval.messages": "1", "group.initial.rebalance.delay.ms": "0"}
}

// TestKaas sends every script to kaas and compares with the recordings.
func TestKaas(t *testing.T) {
	harness.NeedKaas(t)
	deviations, err := readDeviations(filepath.Join("testdata", "deviations.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []struct {
		name string
		mode harness.Mode
	}{{"in memory", harness.Dev}, {"with a data directory", harness.Single}} {
		t.Run(mode.name, func(t *testing.T) {
			for _, version := range []string{kafka37, kafka43} {
				eachScript(t, version, mode.mode, func(t *testing.T, script Script, broker *harness.Broker) { replay(t, script, broker, deviations) })
			}
		})
	}
	checkUse(t, deviations)
}

// eachScript runs the scripts that an Apache Kafka judges, on one broker but for those that want one for themselves.
func eachScript(t *testing.T, version string, mode harness.Mode, run func(*testing.T, Script, *harness.Broker)) {
	t.Helper()
	shared := harness.Start(t, harness.Options{Mode: mode, Overrides: settings(), Decodes: harness.ForcedSites()})
	for _, script := range scripts() {
		if script.Kafka != version || script.Restarts && mode == harness.Dev || script.Many && mode == harness.Single && !harness.Apache() {
			continue
		}
		t.Run(script.Name, func(t *testing.T) {
			broker := shared
			if script.Settings != nil {
				own := settings()
				maps.Copy(own, script.Settings)
				broker = harness.Start(t, harness.Options{Mode: mode, Overrides: own, Decodes: harness.ForcedSites()})
			}
			run(t, script, broker)
		})
	}
}

func recordingOf(script Script) string { return filepath.Join("testdata", script.Name+".txt") }

func converse(t *testing.T, script Script, broker *harness.Broker) []Exchange {
	t.Helper()
	talk := newTalk(t, broker.Bootstrap())
	defer talk.Hangup()
	talk.restart = func() {
		broker.Stop(t)
		broker.Resume(t)
	}
	script.Run(talk)
	return talk.exchanges
}

func replay(t *testing.T, script Script, broker *harness.Broker, deviations []*Deviation) {
	t.Helper()
	recorded, err := readRecording(recordingOf(script))
	if err != nil {
		t.Fatal(err)
	}
	heard := converse(t, script, broker)
	if len(heard) != len(recorded) {
		t.Errorf("%d exchanges instead of %d: run `make oracle` after a change of a script", len(heard), len(recorded))
	}
	for i := range min(len(heard), len(recorded)) {
		if heard[i].Title() != recorded[i].Title() {
			t.Fatalf("%q instead of %q: run `make oracle` after a change of a script", heard[i].Title(), recorded[i].Title())
		}
		judge(t, script, compare(recorded[i], heard[i]), heard[i].Title(), deviations)
	}
}

// judge fails the test for each difference that no deviation explains, and for each deviation of the exchange that explains none.
func judge(t *testing.T, script Script, differences []Difference, title string, deviations []*Deviation) {
	t.Helper()
	used := map[*Deviation]bool{}
	for _, difference := range differences {
		explained := false
		for _, deviation := range deviations {
			if deviation.explains(script.Name, difference) {
				used[deviation], explained = true, true
			}
		}
		if !explained {
			t.Errorf("differs:\n%s: %s", script.Name, difference)
		}
	}
	for _, deviation := range deviations {
		if !used[deviation] && deviation.covers(script.Name, title) {
			t.Errorf("deviations.txt:%d: %q no longer differs", deviation.line, title)
		}
	}
}

// checkUse fails the test for what deviations.txt lists in vain. A run of some of the tests only cannot tell.
func checkUse(t *testing.T, deviations []*Deviation) {
	t.Helper()
	if strings.Contains(flag.Lookup("test.run").Value.String(), "/") {
		return
	}
	for _, deviation := range deviations {
		for _, vain := range deviation.unused() {
			t.Errorf("deviations.txt:%d: nothing differs as in %q", deviation.line, vain)
		}
	}
}

// TestRecord asks Apache Kafka and writes the recordings, for `make oracle`.
func TestRecord(t *testing.T) {
	if !harness.Apache() {
		t.Skip("records the answers of Apache Kafka: run `make oracle`")
	}
	for _, version := range []string{kafka37, kafka43} {
		t.Run(version, func(t *testing.T) {
			t.Setenv("KAFKA_VERSION", version)
			eachScript(t, version, harness.Single, record)
		})
	}
}

func record(t *testing.T, script Script, broker *harness.Broker) {
	t.Helper()
	exchanges := converse(t, script, broker)
	if t.Failed() {
		return
	}
	if err := os.MkdirAll("testdata", 0o750); err != nil {
		t.Fatal(err)
	}
	if err := writeRecording(recordingOf(script), "Answers of Apache Kafka "+script.Kafka+", written by `make oracle`.", exchanges); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d exchanges", len(exchanges))
}

// TestEnoughExchanges keeps the recordings from shrinking unseen.
func TestEnoughExchanges(t *testing.T) {
	count := 0
	for _, script := range scripts() {
		exchanges, err := readRecording(recordingOf(script))
		if err != nil {
			t.Fatal(err)
		}
		count += len(exchanges)
	}
	if least := 1500; count < least {
		t.Errorf("%d exchanges are recorded, fewer than %d", count, least)
	}
}
