package clients

import (
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

// The versions of Kafka's own clients that the programs run with: the one that they are compiled with, and the newest.
const (
	java37 = "3.7.2"
	java43 = "4.3.1"
)

// javaProgram is one of the programs in ../java, which use Kafka's own clients as an application does.
func javaProgram(t *testing.T, class string, settings ...string) harness.Command {
	t.Helper()
	return javaProgramOf(t, java37, class, settings...)
}

func javaProgramOf(t *testing.T, version, class string, settings ...string) harness.Command {
	t.Helper()
	folder := harness.Suite(t, "java")
	libraries := filepath.Join(folder, "libraries", "*")
	if version != java37 {
		libraries = filepath.Join(filepath.Dir(harness.ShellTools(t, version)), "libs", "*")
	}
	return harness.Command{
		Program: harness.Find(t, "java"),
		Arguments: append([]string{
			"-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
			"-cp", filepath.Join(folder, "classes") + ":" + libraries, "rs.kaas.tests." + class,
		}, settings...),
	}
}

// javaCrew is members in one Java process.
type javaCrew struct {
	t       *testing.T
	topic   string
	group   string
	witness *witness
	process *harness.Process
}

// assignors of the Java client by their short names.
var assignors = map[string]string{
	"range":              "org.apache.kafka.clients.consumer.RangeAssignor",
	"sticky":             "org.apache.kafka.clients.consumer.StickyAssignor",
	"cooperative-sticky": "org.apache.kafka.clients.consumer.CooperativeStickyAssignor",
}

func newJavaCrew(t *testing.T, address, topic, group, assignor string, witness *witness, settings ...string) *javaCrew {
	t.Helper()
	return newJavaCrewOf(t, java37, address, topic, group, assignor, witness, settings...)
}

func newJavaCrewOf(t *testing.T, version, address, topic, group, assignor string, witness *witness, settings ...string) *javaCrew {
	t.Helper()
	command := javaProgramOf(t, version, "Members", append([]string{
		"bootstrap.servers=" + address, "topic=" + topic, "group.id=" + group, "partition.assignment.strategy=" + assignors[assignor],
		"heartbeat.interval.ms=300", "max.poll.records=30", "reconnect.backoff.max.ms=200", "fetch.max.wait.ms=100",
	}, settings...)...)
	return &javaCrew{t: t, topic: topic, group: group, witness: witness, process: harness.Launch(t, command, witness.hears)}
}

func (c *javaCrew) join(name string, silent bool) {
	c.start(name, "session.timeout.ms="+strconv.FormatInt(churnSession.Milliseconds(), 10), "internal.leave.group.on.close="+strconv.FormatBool(!silent))
}

// start makes a member with more consumer properties.
func (c *javaCrew) start(name string, settings ...string) {
	c.t.Helper()
	c.process.Say(c.t, append([]string{"start", name}, settings...)...)
}

func (c *javaCrew) end(name string) {
	c.t.Helper()
	c.process.Say(c.t, "stop", name)
}

// finish ends all members.
func (c *javaCrew) finish() {
	c.t.Helper()
	c.process.Finish(c.t, 30*time.Second)
}
