package clients

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

// toolbox runs one of Apache Kafka's shell tools again and again in one Java process.
type toolbox struct {
	t       *testing.T
	broker  *harness.Broker
	class   string
	process *harness.Process
	lines   chan string
	// masks replace in each line what differs from run to run.
	masks []mask
}

// mask replaces what an expression finds.
type mask struct {
	found  *regexp.Regexp
	placed string
}

func masked(expression, placed string) mask { return mask{regexp.MustCompile(expression), placed} }

func newToolbox(t *testing.T, broker *harness.Broker, class string, masks ...mask) *toolbox {
	t.Helper()
	command := javaProgram(t, "Tools")
	libraries := filepath.Join(filepath.Dir(harness.ShellTools(t, "3.7.2")), "libs", "*")
	command.Arguments[slices.Index(command.Arguments, "-cp")+1] += ":" + libraries
	command.Env = append(command.Env, "TZ=UTC")
	// A trace of Java's stack says nothing about the broker.
	b := &toolbox{t: t, broker: broker, class: class, lines: make(chan string, 1000), masks: append([]mask{
		masked(`^\t(at |\.\.\.).*`, ""), masked(regexp.QuoteMeta(broker.Bootstrap()), "ADDRESS"),
		masked(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`, "ID"), masked(`\s+`, " "), masked(` $`, ""),
	}, masks...)}
	b.process = harness.Launch(t, command, func(line string) { b.lines <- line })
	return b
}

// run returns what the tool prints, masked and sorted, with the exit status unless that is 0.
func (b *toolbox) run(arguments ...string) []string {
	b.t.Helper()
	b.process.Say(b.t, strings.Join(append([]string{b.class, "--bootstrap-server", b.broker.Bootstrap()}, arguments...), "\t"))
	var printed []string
	patience := time.After(time.Minute)
	for {
		select {
		case line := <-b.lines:
			if status, ended := strings.CutPrefix(line, "status "); ended {
				slices.Sort(printed)
				if status != "0" {
					printed = append(printed, line)
				}
				return printed
			}
			for _, m := range b.masks {
				line = m.found.ReplaceAllString(line, m.placed)
			}
			if line != "" {
				printed = append(printed, line)
			}
		case <-patience:
			b.t.Fatalf("the tool does not answer: %s", b.process.Errors())
		}
	}
}

// follow does what a recording says, and fails the test where the tool prints something else than it did with Apache Kafka. With KAAS_RECORD=1 it writes
// what the tool prints. The words are replaced in the arguments of the tool: old, new, old, new.
func (b *toolbox) follow(file string, steps map[string]func(), words ...string) {
	b.t.Helper()
	recording, err := os.ReadFile(file)
	if err != nil {
		b.t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(recording)) {
		line = strings.TrimSuffix(line, "\n")
		switch kind, rest, _ := strings.Cut(line, " "); kind {
		case "!":
			got = append(got, line)
			steps[rest]()
		case "$":
			got = append(got, line)
			got = append(got, b.run(strings.Fields(strings.NewReplacer(words...).Replace(rest))...)...)
		case "#", "":
			got = append(got, line)
		default: // an output of the recording
		}
	}
	text := strings.Join(got, "\n") + "\n"
	if os.Getenv("KAAS_RECORD") == "1" {
		writeFile(b.t, file, text)
		return
	}
	compareOutputs(b.t, text, string(recording))
}

// compareOutputs tells each run of the tool whose output is another one.
func compareOutputs(t *testing.T, got, want string) {
	t.Helper()
	gotRuns, wantRuns := strings.Split(got, "\n$ "), strings.Split(want, "\n$ ")
	for i, want := range wantRuns {
		if gotRuns[i] != want {
			t.Errorf("the tool prints\n%s\nand with Apache Kafka\n%s", gotRuns[i], want)
		}
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
