package clients

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

// groupTool runs kafka-consumer-groups.sh again and again in one Java process.
type groupTool struct {
	t       *testing.T
	broker  *harness.Broker
	process *harness.Process
	lines   chan string
	members []*kgo.Client
}

func newGroupTool(t *testing.T, broker *harness.Broker) *groupTool {
	t.Helper()
	command := javaProgram(t, "Tools")
	libraries := filepath.Join(filepath.Dir(harness.ShellTools(t, "3.7.2")), "libs", "*")
	command.Arguments[slices.Index(command.Arguments, "-cp")+1] += ":" + libraries
	command.Env = append(command.Env, "TZ=UTC")
	g := &groupTool{t: t, broker: broker, lines: make(chan string, 1000)}
	g.process = harness.Launch(t, command, func(line string) { g.lines <- line })
	return g
}

// run returns what the tool prints, masked and sorted, with the exit status unless that is 0.
func (g *groupTool) run(arguments ...string) []string {
	g.t.Helper()
	words := append([]string{"kafka.admin.ConsumerGroupCommand", "--bootstrap-server", g.broker.Bootstrap()}, arguments...)
	g.process.Say(g.t, strings.Join(words, "\t"))
	var printed []string
	patience := time.After(time.Minute)
	for {
		select {
		case line := <-g.lines:
			if status, ended := strings.CutPrefix(line, "status "); ended {
				slices.Sort(printed)
				if status != "0" {
					printed = append(printed, line)
				}
				return printed
			}
			if masked := g.mask(line); masked != "" {
				printed = append(printed, masked)
			}
		case <-patience:
			g.t.Fatalf("the tool does not answer: %s", g.process.Errors())
		}
	}
}

var (
	memberID    = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	coordinator = regexp.MustCompile(`ADDRESS *\(\d+\)`)
	spaces      = regexp.MustCompile(` +`)
)

// mask takes out of a line what differs from run to run. A trace of Java's stack says nothing about the broker.
func (g *groupTool) mask(line string) string {
	if strings.HasPrefix(line, "\tat ") || strings.HasPrefix(line, "\t...") {
		return ""
	}
	line = strings.ReplaceAll(line, g.broker.Bootstrap(), "ADDRESS")
	line = memberID.ReplaceAllString(line, "ID")
	line = coordinator.ReplaceAllString(line, "ADDRESS (NODE)")
	return strings.TrimSpace(spaces.ReplaceAllString(line, " "))
}

// groupToolSteps are what happens between two runs of the tool.
var groupToolSteps = map[string]func(g *groupTool){
	"commit": func(g *groupTool) {
		g.commit("idle", "first", 0, 4)
		g.commit("idle", "first", 1, 0)
		g.commit("idle", "second", 0, 1)
		g.commit("idle2", "second", 0, 2)
		g.commit("odd/name", "second", 0, 3)
	},
	"join": func(g *groupTool) {
		g.join("watcher", kgo.ConsumerGroup("busy"), kgo.ConsumeTopics("first"))
		g.commit("busy-before", "second", 0, 1)
		g.join("keeper", kgo.ConsumerGroup("placed"), kgo.ConsumeTopics("first", "second"), kgo.InstanceID("place-1"))
	},
	"leave": func(g *groupTool) {
		for _, member := range g.members {
			member.Close()
		}
		g.removeStatic("placed", "place-1")
	},
}

// join makes a member that has read something and has committed it.
func (g *groupTool) join(name string, options ...kgo.Opt) {
	member := newFranz(g.t, g.broker.Bootstrap(), append([]kgo.Opt{
		kgo.ClientID(name), kgo.Balancers(kgo.RangeBalancer()), kgo.DisableAutoCommit(), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
	}, options...)...)
	g.members = append(g.members, member)
	for read := 0; read < 18; {
		fetches := member.PollFetches(g.t.Context())
		if err := fetches.Err(); err != nil {
			g.t.Fatal(err)
		}
		read += fetches.NumRecords()
	}
	if err := member.CommitUncommittedOffsets(g.t.Context()); err != nil {
		g.t.Fatal(err)
	}
}

// commit stores one offset as a program does that is no member.
func (g *groupTool) commit(group, topic string, partition int32, offset int64) {
	request := kmsg.NewPtrOffsetCommitRequest()
	request.Group = group
	committed := kmsg.NewOffsetCommitRequestTopicPartition()
	committed.Partition, committed.Offset = partition, offset
	asked := kmsg.NewOffsetCommitRequestTopic()
	asked.Topic = topic
	asked.Partitions = append(asked.Partitions, committed)
	request.Topics = append(request.Topics, asked)
	response, err := request.RequestWith(g.t.Context(), newFranz(g.t, g.broker.Bootstrap()))
	if err == nil {
		err = kerr.ErrorForCode(response.Topics[0].Partitions[0].ErrorCode)
	}
	if err != nil {
		g.t.Fatalf("commit of %s: %v", group, err)
	}
}

func (g *groupTool) removeStatic(group, instance string) {
	request := kmsg.NewPtrLeaveGroupRequest()
	request.Group = group
	member := kmsg.NewLeaveGroupRequestMember()
	member.InstanceID = &instance
	request.Members = append(request.Members, member)
	response, err := request.RequestWith(g.t.Context(), newFranz(g.t, g.broker.Bootstrap()))
	if err == nil {
		err = kerr.ErrorForCode(response.Members[0].ErrorCode)
	}
	if err != nil {
		g.t.Fatalf("removal of %s: %v", instance, err)
	}
}

// TestConsumerGroupsTool lets Apache Kafka's tool do all that it can do with groups, and compares what it prints with what it prints of Apache Kafka.
// With KAAS_RECORD=1 it writes that.
func TestConsumerGroupsTool(t *testing.T) {
	broker := harness.Start(t, harness.Options{Overrides: atOnce, Decodes: []string{"timestamp-lookup"}})
	g := newGroupTool(t, broker)
	g.produce()
	const file = "testdata/consumer-groups.txt"
	plan := filepath.Join(t.TempDir(), "plan.csv")
	plans := filepath.Join(t.TempDir(), "plans.csv")
	writeFile(t, plan, "first,0,2\nfirst,1,1\nsecond,0,4\n")
	writeFile(t, plans, "idle,first,0,5\nidle2,second,0,3\n")
	replaced := strings.NewReplacer("{plan}", plan, "{plans}", plans)

	script, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(script)) {
		line = strings.TrimSuffix(line, "\n")
		switch kind, rest, _ := strings.Cut(line, " "); kind {
		case "!":
			got = append(got, line)
			groupToolSteps[rest](g)
		case "$":
			got = append(got, line)
			got = append(got, g.run(strings.Fields(replaced.Replace(rest))...)...)
		case "#", "":
			got = append(got, line)
		default: // an output of the recording
		}
	}
	text := strings.Join(got, "\n") + "\n"
	if os.Getenv("KAAS_RECORD") == "1" {
		writeFile(t, file, text)
		return
	}
	compareOutputs(t, text, string(script))
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

// produce fills two topics with records of known times.
func (g *groupTool) produce() {
	createTopic(g.t, g.broker.Bootstrap(), "first", 2)
	createTopic(g.t, g.broker.Bootstrap(), "second", 1)
	var records []*kgo.Record
	for second := range 10 {
		at := time.Date(2024, 5, 1, 0, 0, second, 0, time.UTC)
		for partition := range int32(2) {
			records = append(records, &kgo.Record{Topic: "first", Partition: partition, Value: fmt.Append(nil, second), Timestamp: at})
		}
	}
	for _, ago := range []time.Duration{4 * time.Hour, 2 * time.Hour, 90 * time.Minute, 30 * time.Minute, 10 * time.Minute} {
		records = append(records, &kgo.Record{Topic: "second", Value: []byte(ago.String()), Timestamp: time.Now().Add(-ago)})
	}
	producer := newFranz(g.t, g.broker.Bootstrap(), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err := producer.ProduceSync(g.t.Context(), records...).FirstErr(); err != nil {
		g.t.Fatal(err)
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
