package clients

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

const compactedSegment = 4096

// eager makes a broker look for something to compact all the time.
var eager = map[string]string{"log.cleaner.backoff.ms": "100", "group.initial.rebalance.delay.ms": "0"}

// compacting are the sites at which compaction looks into records.
var compacting = []string{"compact-keys", "compaction", "control-record"}

// compacted are the settings of a topic that is compacted as soon as anything of it is closed. It keeps deletions for a second.
var compacted = []string{
	"segment.bytes", fmt.Sprint(compactedSegment), "min.cleanable.dirty.ratio", "0.01", "delete.retention.ms", "1000",
}

// The same input, batch by batch, to the broker under test and to an Apache Kafka: after each compaction the logs are the same, header by header and record by record, and so is
// what a reader of committed records delivers. Behind the first one both are killed, and the producers go on with their sequences.
func TestCompactionLeavesWhatApacheLeaves(t *testing.T) {
	ours := harness.Start(t, harness.Options{Overrides: eager, Decodes: compacting})
	theirs := harness.StartApache(t, harness.Options{Overrides: eager})
	topic, base := uniqueName(t), time.Now().UnixMilli()
	// Nothing is compacted before all of the input is there, or the logs would depend on who was faster.
	patient := append(slices.Clone(compacted), "min.compaction.lag.ms", "3600000", "cleanup.policy", "delete", "retention.ms", "-1")
	logs := []*rawLog{newRawLog(t, ours, topic, base, patient...), newRawLog(t, theirs, topic, base, patient...)}
	for round, write := range []func(*rawLog){firstRound, secondRound, thirdRound} {
		for _, l := range logs {
			if round == 1 {
				l.broker.Kill(t)
				l.broker.Resume(t)
			}
			l.configure("min.compaction.lag.ms", "3600000")
			write(l)
			l.roll(compactedSegment)
			l.configure("cleanup.policy", "compact")
			l.configure("min.compaction.lag.ms", "0")
		}
		if !t.Run(fmt.Sprintf("round %d", round+1), func(t *testing.T) { sameLogs(t, logs) }) {
			return
		}
		time.Sleep(1200 * time.Millisecond) // deletions and markers of this round reach their horizon
	}
	readByAll(t, logs[0])
}

// sameLogs waits until both have compacted, and then for the same result.
func sameLogs(t *testing.T, logs []*rawLog) {
	t.Helper()
	for _, l := range logs {
		eventually(t, time.Minute, func() error {
			if n := l.repeated(); n > 0 {
				return fmt.Errorf("%s still has %d records too many", l.broker.Bootstrap(), n)
			}
			return nil
		})
	}
	for _, committed := range []bool{false, true} {
		eventually(t, 20*time.Second, func() error {
			got, want := logs[0].shown(committed), logs[1].shown(committed)
			for i := range max(len(got), len(want)) {
				if i == len(got) || i == len(want) || got[i] != want[i] {
					return fmt.Errorf("committed %v, line %d:\n%s\nApache Kafka has\n%s", committed, i, strings.Join(got[i:], "\n"), strings.Join(want[i:], "\n"))
				}
			}
			return nil
		})
	}
}

var codecs = []batch.Compression{batch.None, batch.Gzip, batch.Snappy, batch.Lz4, batch.Zstd}

// overwrite writes a few keys many times, in every codec.
func overwrite(l *rawLog, count int, round string) {
	for i := range count {
		words := make([]string, 1+i%4)
		for j := range words {
			words[j] = fmt.Sprintf("k%d=%s-%d-%d", (i*i+3*j)%17, round, i, j)
		}
		l.data("", codecs[i%len(codecs)], words...)
	}
}

func firstRound(l *rawLog) {
	l.data("p1", batch.None, "a=1", "b=1", "c=1")
	overwrite(l, 60, "one")
	l.data("p1", batch.Zstd, "a=2", "d")
	l.data("t1", batch.None, "a=t1", "e=t1")
	l.data("t2", batch.Gzip, "a=aborted", "f=aborted")
	l.data("t1", batch.Lz4, "g=1", "k3")
	l.finish("t2", false)
	l.finish("t1", true)
	l.data("t2", batch.None, "e=aborted")
	l.data("t2", batch.Snappy, "c=aborted", "=aborted")
	l.data("", batch.Gzip, "=nokey", "h=1", "=nokey")
	l.data("p2", batch.Gzip, "once=1")
	l.finish("t2", false)
	l.data("t1", batch.None, "i=1")
	l.finish("t1", true)
	l.data("p2", batch.Lz4, "i=2", "once=2")
	l.data("p3", batch.None, "i=3", "k4", "gone")
	l.data("", batch.None, "c", "gone=1", "i=4")
	// A transaction over several segments, of which the last record goes and the first ones stay.
	l.data("t3", batch.Zstd, "long-1=1", "long-2=1")
	overwrite(l, 40, "late")
	l.data("t3", batch.None, "long-1=2")
	l.finish("t3", true)
	l.data("", batch.None, "long-1=3")
}

func secondRound(l *rawLog) {
	l.data("p1", batch.None, "b=2", "x")
	l.data("t2", batch.Zstd, "b=aborted")
	overwrite(l, 30, "two")
	l.finish("t2", false)
	l.data("t1", batch.Gzip, "g", "a=3")
	l.finish("t1", true)
	l.data("p3", batch.Lz4, "h=2", "e=2")
}

func thirdRound(l *rawLog) {
	l.data("t1", batch.None, "a=4")
	l.finish("t1", true)
	l.data("t2", batch.None, "y=1")
	l.finish("t2", true)
	l.data("p1", batch.None, "b=3", "g=2", "x=1")
	overwrite(l, 10, "three")
}

// readByAll has the clients that know transactions read the compacted log.
func readByAll(t *testing.T, l *rawLog) {
	want := slices.DeleteFunc(l.visible(), func(r record) bool { return r.Key == "filler" })
	count := len(l.visible())
	for _, reader := range committedReaders() {
		t.Run(reader.name, func(t *testing.T) {
			got := reader.read(t, l.broker.Bootstrap(), l.topic, count)
			compare(t, slices.DeleteFunc(got, func(r record) bool { return r.Key == "filler" }), want)
		})
	}
}

// A word count keeps its counts in topics that are compacted under its hands. When its own state is gone, the counts come from there, as they were.
func TestStreamsRestoresFromCompactedTopics(t *testing.T) {
	settings := maps.Clone(inTransactions)
	maps.Copy(settings, eager)
	broker := harness.Start(t, harness.Options{Overrides: settings, Decodes: compacting})
	w := newWordCount(t, broker, append(exactlyOnceV2(), "topic.segment.bytes=16384", "topic.min.cleanable.dirty.ratio=0.01", "topic.delete.retention.ms=100")...)
	w.start()
	for range 5 {
		w.write(300)
		w.judge()
	}
	w.stop()
	awaitCompacted(t, broker, w.changelog())
	again := w.twin()
	w.process, w.command = nil, again.command
	w.start()
	w.write(300)
	w.judge()
	w.stop()
}

// awaitCompacted waits until fewer records are in a topic than were written to it.
func awaitCompacted(t *testing.T, broker *harness.Broker, topic string) {
	t.Helper()
	client := newFranz(t, broker.Bootstrap())
	eventually(t, time.Minute, func() error {
		written := int64(0)
		for partition := range partitionsOf(t, client, topic) {
			written += endOffset(t, broker.Bootstrap(), topic, int32(partition))
		}
		consumer := newFranz(t, broker.Bootstrap(), kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchMaxWait(100*time.Millisecond))
		defer consumer.Close()
		there := len(poll(t, consumer, time.Second, -1))
		t.Logf("%d of %d records of %s are left", there, written, topic)
		if int64(there) > written/2 {
			return fmt.Errorf("%d of %d records of %s are left", there, written, topic)
		}
		return nil
	})
}
