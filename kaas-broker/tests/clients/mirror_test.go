package clients

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

// mirrored is one of the two clusters: what it has itself, and the name that the other one knows it by.
type mirrored struct {
	t       *testing.T
	alias   string
	broker  *harness.Broker
	records []record
}

// gone is how many records have been deleted from the start of each mirrored topic, so that an offset here is another one there.
const gone = 10

func (m *mirrored) topic() string   { return "orders-of-" + m.alias }
func (m *mirrored) readers() string { return "readers-of-" + m.alias }
func (m *mirrored) ended() string   { return "ended-of-" + m.alias }

// mirror is the name of this cluster's topic on the other one.
func (m *mirrored) mirror() string { return m.alias + "." + m.topic() }

// fill makes the topic and two groups: one in the middle of it, one at its end.
func (m *mirrored) fill() {
	address := m.broker.Bootstrap()
	createTopic(m.t, address, m.topic(), 1, "retention.ms", "7200000")
	m.produce(60)
	deleteRecords(m.t, address, m.topic(), gone)
	compare(m.t, franzInGroup(m.t, address, m.topic(), m.readers(), 20), m.records[gone:gone+20])
	compare(m.t, franzInGroup(m.t, address, m.topic(), m.ended(), 50), m.records[gone:])
}

func (m *mirrored) produce(count int) {
	more := numbered(fmt.Sprint(m.alias, len(m.records)), count)
	franzProduce(m.t, m.broker.Bootstrap(), m.topic(), more)
	m.records = append(m.records, more...)
}

// awaitMirror waits until the other cluster has every record, in order of first appearance, and returns all that it has.
func (m *mirrored) awaitMirror(other *mirrored) []record {
	m.t.Helper()
	var all []record
	eventually(m.t, 90*time.Second, func() error {
		if code := topicError(m.t, other.broker.Bootstrap(), m.mirror()); code != 0 {
			return fmt.Errorf("no %s: error %d", m.mirror(), code)
		}
		end := endOffset(m.t, other.broker.Bootstrap(), m.mirror(), 0)
		if end < int64(len(m.records)-gone) {
			return fmt.Errorf("%s has %d records", m.mirror(), end)
		}
		all = franzConsume(m.t, other.broker.Bootstrap(), m.mirror(), int(end))
		var first []record
		for _, r := range all {
			if !slices.Contains(first, r) {
				first = append(first, r)
			}
		}
		if !slices.Equal(first, m.records[gone:]) {
			return fmt.Errorf("%s has %d different records", m.mirror(), len(first))
		}
		return nil
	})
	return all
}

// awaitOffsets waits until the groups have offsets on the other cluster: the one at the end is at the end there, the other one not past its record.
func (m *mirrored) awaitOffsets(other *mirrored) {
	m.t.Helper()
	client := newFranz(m.t, other.broker.Bootstrap())
	offset := func(group string) int64 {
		offsets, err := committedOffsets(context.Background(), client, group, m.mirror())
		if err != nil {
			m.t.Fatal(err)
		}
		return offsets[0]
	}
	eventually(m.t, time.Minute, func() error {
		if at := offset(m.ended()); at != 50 {
			return fmt.Errorf("%s is at %d, want 50", m.ended(), at)
		}
		if at := offset(m.readers()); at == 0 {
			return fmt.Errorf("%s has no offset", m.readers())
		}
		return nil
	})
	at := offset(m.readers())
	if at > 20 {
		m.t.Errorf("%s is at %d on %s: records are skipped, it has read 20", m.readers(), at, other.alias)
	}
	m.t.Logf("%s is at 20 here and at %d on %s", m.readers(), at, other.alias)
	compare(m.t, franzInGroup(m.t, other.broker.Bootstrap(), m.mirror(), m.readers(), int(50-at)), m.records[gone+at:])
}

// MirrorMaker 2 carries topics, their settings and the offsets of groups from Apache Kafka to kaas and from kaas to Apache Kafka, also when it and both
// brokers are killed.
func TestMirrorMaker(t *testing.T) {
	harness.Long(t)
	apache := &mirrored{t: t, alias: "apache", broker: harness.StartApache(t, harness.Options{Overrides: inChurn})}
	kaas := &mirrored{t: t, alias: "kaas", broker: harness.Start(t, harness.Options{Overrides: inChurn, Decodes: []string{"compact-keys"}})}
	apache.fill()
	kaas.fill()
	file := filepath.Join(t.TempDir(), "mirror.properties")
	writeFile(t, file, mirrorSettings(apache, kaas))
	command := shellTool(t, "3.7.2", "connect-mirror-maker", file)
	maker := harness.Launch(t, command, nil)
	for from, to := range map[*mirrored]*mirrored{apache: kaas, kaas: apache} {
		if all := from.awaitMirror(to); len(all) != 50 {
			t.Errorf("%s has %d records of %s, want 50", to.alias, len(all), from.alias)
		}
		from.awaitOffsets(to)
		if retention := topicConfig(t, to.broker.Bootstrap(), from.mirror(), "retention.ms"); retention != "7200000" {
			t.Errorf("%s: retention.ms is %s", from.mirror(), retention)
		}
	}

	maker.Kill()
	for _, each := range []*mirrored{apache, kaas} {
		each.broker.Kill(t)
		each.broker.Resume(t)
		each.produce(40)
	}
	maker = harness.Launch(t, command, nil)
	apache.awaitMirror(kaas)
	kaas.awaitMirror(apache)
	maker.Terminate(t, time.Minute)
}

func mirrorSettings(sides ...*mirrored) string {
	lines := []string{
		"clusters=" + sides[0].alias + "," + sides[1].alias, "replication.factor=1", "checkpoints.topic.replication.factor=1",
		"heartbeats.topic.replication.factor=1", "offset-syncs.topic.replication.factor=1", "config.storage.replication.factor=1",
		"offset.storage.replication.factor=1", "status.storage.replication.factor=1", "offset.lag.max=0", "sync.group.offsets.enabled=true",
		"sync.group.offsets.interval.seconds=1", "emit.checkpoints.interval.seconds=1", "refresh.topics.interval.seconds=1",
		"refresh.groups.interval.seconds=1", "offset.flush.interval.ms=500", "scheduled.rebalance.max.delay.ms=0", "session.timeout.ms=3000",
		"heartbeat.interval.ms=500", "plugin.discovery=service_load",
	}
	for i, from := range sides {
		to := sides[1-i]
		way := from.alias + "->" + to.alias + "."
		lines = append(lines, from.alias+".bootstrap.servers="+from.broker.Bootstrap(), way+"enabled=true", way+"topics="+from.topic(),
			way+"groups="+from.readers()+","+from.ended())
	}
	return strings.Join(lines, "\n") + "\n"
}
