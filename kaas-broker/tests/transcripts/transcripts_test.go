package transcripts

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

// settings are those of both brokers, beside the defaults of each: kaas has a smaller segment in memory, and syncs each append unless told otherwise.
func settings() map[string]string {
	return map[string]string{"node.id": "0", "log.segment.bytes": "1073741824", "log.flush.interval.messages": "1"}
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
				broker := harness.Start(t, harness.Options{Mode: mode.mode, Overrides: settings()})
				for _, script := range scriptsFor(version) {
					t.Run(script.Name, func(t *testing.T) { replay(t, script, broker.Bootstrap(), deviations) })
				}
			}
		})
	}
	checkUse(t, deviations)
}

// scriptsFor are the scripts that an Apache Kafka judges.
func scriptsFor(version string) []Script {
	return slices.DeleteFunc(scripts(), func(s Script) bool { return s.Kafka != version })
}

func recordingOf(script Script) string { return filepath.Join("testdata", script.Name+".txt") }

func converse(t *testing.T, script Script, address string) []Exchange {
	t.Helper()
	talk := newTalk(t, address)
	defer talk.Hangup()
	script.Run(talk)
	return talk.exchanges
}

func replay(t *testing.T, script Script, address string, deviations []*Deviation) {
	t.Helper()
	recorded, err := readRecording(recordingOf(script))
	if err != nil {
		t.Fatal(err)
	}
	heard := converse(t, script, address)
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
			broker := harness.Start(t, harness.Options{Mode: harness.Single, Overrides: settings()})
			for _, script := range scriptsFor(version) {
				t.Run(script.Name, func(t *testing.T) { record(t, script, broker.Bootstrap()) })
			}
		})
	}
}

func record(t *testing.T, script Script, address string) {
	t.Helper()
	exchanges := converse(t, script, address)
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
	if least := 300; count < least {
		t.Errorf("%d exchanges are recorded, fewer than %d", count, least)
	}
}
