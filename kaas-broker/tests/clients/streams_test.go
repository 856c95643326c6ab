package clients

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

// streams is an application of Kafka Streams, which is stopped, killed and started again.
type streams struct {
	t       *testing.T
	broker  *harness.Broker
	topic   string // of the input, and the first part of all other names
	command harness.Command
	process *harness.Process
	// producer writes the input, and goes on when the broker is back.
	producer *kgo.Client
	mutex    sync.Mutex
	state    string
}

const streamsPartitions = 3

// killable is an application whose place in its group, and whose transaction, are free soon after it was killed.
var killable = []string{"main.consumer.session.timeout.ms=3000", "main.consumer.heartbeat.interval.ms=500", "producer.transaction.timeout.ms=5000"}

// steady is an application whose place in its group outlives a restart, its own or the broker's.
var steady = []string{"group.instance.id=steady"}

// newStreams makes an application, with settings as key=value. It does not run yet. The verb and its meaning are in Streams.java.
func newStreams(t *testing.T, broker *harness.Broker, verb string, settings ...string) *streams {
	t.Helper()
	s := &streams{t: t, broker: broker, topic: uniqueName(t)}
	s.command = javaProgram(t, "Streams", append([]string{
		verb, "input=" + s.topic, "output=" + s.output(), "application.id=" + s.topic, "state.dir=" + t.TempDir(), "bootstrap.servers=" + broker.Bootstrap(),
		"num.stream.threads=2", "commit.interval.ms=200", "main.consumer.max.poll.records=50", "reconnect.backoff.max.ms=200",
	}, settings...)...)
	s.producer = newFranz(t, broker.Bootstrap(), kgo.RetryBackoffFn(func(int) time.Duration { return 20 * time.Millisecond }), kgo.DialTimeout(time.Second),
		kgo.RecordRetries(1<<20), kgo.UnknownTopicRetries(-1), kgo.MetadataMinAge(50*time.Millisecond))
	createTopic(t, broker.Bootstrap(), s.output(), streamsPartitions)
	return s
}

func (s *streams) output() string { return s.topic + "-output" }

// start runs the application and waits until it has its partitions and its state.
func (s *streams) start() {
	s.t.Helper()
	s.state = ""
	s.process = harness.Launch(s.t, s.command, s.hears)
	eventually(s.t, time.Minute, func() error {
		s.mutex.Lock()
		defer s.mutex.Unlock()
		if s.state != "RUNNING" {
			return fmt.Errorf("the application is in state %s", s.state)
		}
		return nil
	})
}

func (s *streams) hears(line string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if state, is := strings.CutPrefix(line, "state "); is {
		s.state = state
		return
	}
	s.t.Error(line)
}

// stop ends the application as it should end: it commits.
func (s *streams) stop() {
	s.t.Helper()
	s.process.Finish(s.t, time.Minute)
}

// results reads the output as committed until there are so many records, and a second longer, for those that should not be there.
func (s *streams) results(count int) []*kgo.Record {
	s.t.Helper()
	consumer := newFranz(s.t, s.broker.Bootstrap(), kgo.ConsumeTopics(s.output()), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.FetchMaxWait(200*time.Millisecond))
	defer consumer.Close()
	records := poll(s.t, consumer, time.Minute, count)
	return append(records, poll(s.t, consumer, time.Second, -1)...)
}

// poll reads until there are so many records, or that time has passed. A negative count has no end.
func poll(t *testing.T, consumer *kgo.Client, patience time.Duration, count int) []*kgo.Record {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var records []*kgo.Record
	for (count < 0 || len(records) < count) && ctx.Err() == nil {
		records = append(records, consumer.PollFetches(ctx).Records()...)
	}
	return records
}

// wordCount is the input of the word count and what must come of it.
type wordCount struct {
	*streams
	random *rand.Rand
	counts map[string]int
	total  int
}

func newWordCount(t *testing.T, broker *harness.Broker, settings ...string) *wordCount {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	w := &wordCount{streams: newStreams(t, broker, "count", settings...), random: rand.New(rand.NewPCG(seed, 0)), counts: map[string]int{}}
	createTopic(t, broker.Bootstrap(), w.topic, streamsPartitions)
	return w
}

// write adds lines to the input.
func (w *wordCount) write(lines int) {
	w.t.Helper()
	var records []*kgo.Record
	for range lines {
		words := make([]string, 5)
		for i := range words {
			words[i] = fmt.Sprintf("word%d", w.random.IntN(40))
			w.counts[words[i]]++
			w.total++
		}
		records = append(records, &kgo.Record{Topic: w.topic, Value: []byte(strings.Join(words, " "))})
	}
	if err := w.producer.ProduceSync(w.t.Context(), records...).FirstErr(); err != nil {
		w.t.Errorf("write the input: %v", err)
	}
}

// judge compares the output with the input, counted here: each word's count goes up by one from 1 to what it is.
func (w *wordCount) judge() {
	w.t.Helper()
	last := map[string]int{}
	records := w.results(w.total)
	for _, r := range records {
		var count int
		if _, err := fmt.Sscan(string(r.Value), &count); err != nil || count != last[string(r.Key)]+1 {
			w.t.Fatalf("%s: a count of %s follows %d", r.Key, r.Value, last[string(r.Key)])
		}
		last[string(r.Key)] = count
	}
	if !maps.Equal(last, w.counts) {
		w.t.Errorf("%d counts of %d words, want %d: %v, want %v", len(records), len(last), w.total, last, w.counts)
	}
}

// A word count that is stopped and started again, while the broker is killed: with at_least_once, the default, nothing is lost or repeated as long as the
// application itself is not killed.
func TestStreamsCountsWords(t *testing.T) {
	broker := harness.Start(t, harness.Options{Overrides: inChurn, Decodes: []string{"compact-keys"}})
	w := newWordCount(t, broker, steady...)
	w.start()
	w.write(200)
	w.stop()
	w.write(200)
	w.start()
	broker.Kill(t)
	broker.Resume(t)
	w.write(200)
	w.judge()
	w.stop()
	w.tablesAreCompacted()
}

// A killed application may have counted what it had not committed: with at_least_once it counts that again, and forgets nothing.
func TestStreamsKilledCountsAtLeastOnce(t *testing.T) {
	harness.Long(t)
	broker := harness.Start(t, harness.Options{Overrides: inChurn, Decodes: []string{"compact-keys"}})
	w := newWordCount(t, broker, killable...)
	w.start()
	for range harness.Rounds(3, 20) {
		w.write(200)
		w.process.Kill()
		w.write(200)
		w.start()
	}
	last := map[string]int{}
	for _, r := range w.results(w.total) {
		var count int
		if _, err := fmt.Sscan(string(r.Value), &count); err != nil {
			t.Fatalf("%s: %q", r.Key, r.Value)
		}
		last[string(r.Key)] = max(last[string(r.Key)], count)
	}
	for word, count := range w.counts {
		if last[word] < count {
			t.Errorf("%s is counted %d times, want at least %d", word, last[word], count)
		}
	}
	w.stop()
}

// tablesAreCompacted looks at the topic that keeps the counts.
func (w *wordCount) tablesAreCompacted() {
	w.t.Helper()
	if policy := topicConfig(w.t, w.broker.Bootstrap(), w.changelog(), "cleanup.policy"); policy != "compact" {
		w.t.Errorf("the policy of %s is %s", w.changelog(), policy)
	}
}

// changelog is the topic that keeps the counts.
func (w *wordCount) changelog() string {
	return w.topic + "-KSTREAM-AGGREGATE-STATE-STORE-0000000003-changelog"
}

// windowedJoin is the input of the join and what must come of it.
type windowedJoin struct {
	*streams
	began time.Time // of the records' own time: some time ago, but not so long that they expire
	sides [2][]*kgo.Record
}

// joinWindow is the one of Streams.java.
const joinWindow = 120 * time.Millisecond

func newWindowedJoin(t *testing.T, broker *harness.Broker, settings ...string) *windowedJoin {
	t.Helper()
	w := &windowedJoin{streams: newStreams(t, broker, "join", settings...), began: time.UnixMilli(time.Now().Add(-time.Hour).UnixMilli())}
	for side := range w.sides {
		createTopic(t, broker.Bootstrap(), w.side(side), streamsPartitions)
	}
	return w
}

func (w *windowedJoin) side(side int) string { return w.topic + []string{"-left", "-right"}[side] }

// write adds records to both sides, 10 ms apart in their own time, with seven keys in turn.
func (w *windowedJoin) write(count int) {
	w.t.Helper()
	var records []*kgo.Record
	for range count {
		for side := range w.sides {
			number := len(w.sides[side])
			r := &kgo.Record{
				Topic: w.side(side), Key: fmt.Appendf(nil, "key%d", number%7), Value: fmt.Appendf(nil, "%d.%d", side, number),
				Timestamp: w.began.Add(time.Duration(number*10+side*3) * time.Millisecond),
			}
			w.sides[side] = append(w.sides[side], r)
			records = append(records, r)
		}
	}
	if err := w.producer.ProduceSync(w.t.Context(), records...).FirstErr(); err != nil {
		w.t.Errorf("write the input: %v", err)
	}
}

// pairs is what the join must put out, in no particular order.
func (w *windowedJoin) pairs() []string {
	var pairs []string
	for _, left := range w.sides[0] {
		for _, right := range w.sides[1] {
			if string(left.Key) == string(right.Key) && left.Timestamp.Sub(right.Timestamp).Abs() <= joinWindow {
				pairs = append(pairs, fmt.Sprintf("%s %s+%s", left.Key, left.Value, right.Value))
			}
		}
	}
	slices.Sort(pairs)
	return pairs
}

// judge compares the output with the pairs found here: each one once.
func (w *windowedJoin) judge() {
	w.t.Helper()
	want := w.pairs()
	var got []string
	for _, r := range w.results(len(want)) {
		got = append(got, fmt.Sprintf("%s %s", r.Key, r.Value))
	}
	slices.Sort(got)
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			w.t.Fatalf("pair %d of %d is %s, want %s of %d", i, len(got), got[i], want[i], len(want))
		}
	}
	if len(got) != len(want) {
		w.t.Errorf("%d pairs, want %d", len(got), len(want))
	}
}

// A join of two topics over windows of time, with the same blows as the word count.
func TestStreamsJoinsWindows(t *testing.T) {
	broker := harness.Start(t, harness.Options{Overrides: inChurn, Decodes: []string{"compact-keys"}})
	w := newWindowedJoin(t, broker, steady...)
	w.start()
	w.write(200)
	w.stop()
	w.write(200)
	w.start()
	broker.Kill(t)
	broker.Resume(t)
	w.write(200)
	w.judge()
	w.stop()
}
