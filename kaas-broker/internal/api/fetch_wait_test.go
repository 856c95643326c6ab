package api_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/internal/api"
	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
)

func TestFetchWaits(t *testing.T) {
	const wait = 500 * time.Millisecond
	cases := []struct {
		name     string
		minBytes int32
		maxWait  time.Duration
		before   func(b *bench, r *kmsg.FetchRequest)
		during   func(b *bench)
		took     time.Duration
		records  int
	}{
		{name: "nothing comes", minBytes: 1, maxWait: wait, took: wait},
		{name: "no wait asked for", minBytes: 1, maxWait: 0, took: 0},
		{name: "negative wait", minBytes: 1, maxWait: -time.Second, took: 0},
		{name: "no bytes asked for", minBytes: 0, maxWait: wait, took: 0},
		{name: "there is enough", minBytes: 1, maxWait: wait, took: 0, records: 1, before: func(b *bench, _ *kmsg.FetchRequest) { b.write("t", 0, "a") }},
		{name: "something comes", minBytes: 1, maxWait: wait, took: 100 * time.Millisecond, records: 1, during: func(b *bench) {
			time.Sleep(100 * time.Millisecond)
			b.write("t", 0, "a")
		}},
		{name: "not enough comes", minBytes: 100_000, maxWait: wait, took: wait, records: 1, during: func(b *bench) {
			time.Sleep(100 * time.Millisecond)
			b.write("t", 0, "a")
		}},
		{name: "enough comes in two parts", minBytes: 100, maxWait: wait, took: 200 * time.Millisecond, records: 2, during: func(b *bench) {
			time.Sleep(100 * time.Millisecond)
			b.write("t", 0, "a")
			time.Sleep(100 * time.Millisecond)
			b.write("t", 0, "b")
		}},
		{name: "more than max_bytes asked for", minBytes: 1 << 30, maxWait: wait, took: 0, records: 1, before: func(b *bench, r *kmsg.FetchRequest) {
			b.write("t", 0, "a")
			r.MaxBytes = 10
		}},
		{name: "the partition's own limit is reached", minBytes: 1 << 20, maxWait: wait, took: 0, records: 1, before: func(b *bench, r *kmsg.FetchRequest) {
			b.write("t", 0, "a")
			r.Topics[0].Partitions[0].PartitionMaxBytes = 10
		}},
		{name: "the topic is deleted", minBytes: 1, maxWait: time.Hour, took: 100 * time.Millisecond, during: func(b *bench) {
			time.Sleep(100 * time.Millisecond)
			must(b.t, b.topics.DeleteTopic(context.Background(), "t"))
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				request := fetchRequest(12, b.topic("t", 1), 0, 0)
				request.MinBytes, request.MaxWaitMillis = c.minBytes, int32(c.maxWait.Milliseconds())
				if c.before != nil {
					c.before(b, request)
				}
				done := make(chan struct{})
				if c.during != nil {
					go func() {
						defer close(done)
						c.during(b)
					}()
				} else {
					close(done)
				}
				began := time.Now()
				row := b.fetch(request).Topics[0].Partitions[0]
				if took := time.Since(began); took != c.took {
					t.Errorf("answered after %v, want %v", took, c.took)
				}
				if got := len(values(t, row.RecordBatches)); got != c.records {
					t.Errorf("%d records, want %d", got, c.records)
				}
				<-done
			})
		})
	}
}

func TestFetchWaitsForAllItsPartitions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		topic := b.topic("t", 2)
		request := fetchRequest(12, topic, 0, 0)
		second := request.Topics[0].Partitions[0]
		second.Partition = 1
		request.Topics[0].Partitions = append(request.Topics[0].Partitions, second)
		request.MaxWaitMillis = 10_000
		go func() {
			time.Sleep(time.Second)
			b.write("t", 1, "a")
		}()
		began := time.Now()
		rows := b.fetch(request).Topics[0].Partitions
		if took := time.Since(began); took != time.Second {
			t.Errorf("answered after %v", took)
		}
		if len(rows[0].RecordBatches) > 0 || len(values(t, rows[1].RecordBatches)) != 1 {
			t.Errorf("rows %+v", rows)
		}
	})
}

func TestParkedFetchEnds(t *testing.T) {
	cases := []struct {
		name string
		end  func(draining chan struct{}, cancel func())
		err  bool
	}{
		{"the server drains", func(draining chan struct{}, _ func()) { close(draining) }, false},
		{"the client goes", func(_ chan struct{}, cancel func()) { cancel() }, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				draining := make(chan struct{})
				b := newBench(t, func(s *setup) { s.draining = draining })
				topic := b.topic("t", 1)
				b.write("t", 0, "a")
				request := fetchRequest(12, topic, 0, 0)
				request.MinBytes, request.MaxWaitMillis = 1<<20, 3_600_000
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				_, finish := b.start(ctx, request)
				go func() {
					time.Sleep(time.Second)
					c.end(draining, cancel)
				}()
				began := time.Now()
				reply, err := finish(ctx)
				if took := time.Since(began); took != time.Second || (err != nil) != c.err {
					t.Errorf("ended after %v: %v", took, err)
				}
				for _, sections := range reply.Sections {
					for _, section := range sections {
						section.Release()
					}
				}
				// A section that was not released would keep its file.
				must(t, ignore(b.partition(topic, 0).DeleteRecords(t.Context(), -1)))
				synctest.Wait()
				if left := b.logs(topic); len(left) > 0 {
					t.Errorf("files are kept: %v", left)
				}
			})
		})
	}
}

// logs are the segments of partition 0.
func (b *bench) logs(topic *catalog.Topic) []string {
	dir, err := b.fs.OpenDir(fmt.Sprintf("%s/%s/0", topic.Name, topic.ID))
	must(b.t, err)
	defer dir.Close()
	entries, err := dir.List()
	must(b.t, err)
	var logs []string
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name, ".log") {
			logs = append(logs, entry.Name)
		}
	}
	return logs
}

func TestFetchWhileTakingOver(t *testing.T) {
	b := newBench(t, func(s *setup) {
		s.wrap = func(_ *setup, p api.Partitions) api.Partitions { return takingOver{p} }
	})
	request := fetchRequest(12, b.topic("t", 1), 0, 0)
	request.MaxWaitMillis = 3_600_000
	if row := b.fetch(request).Topics[0].Partitions[0]; row.ErrorCode != 6 || row.HighWatermark != -1 {
		t.Errorf("row %+v", row)
	}
}

func TestFetchNothing(t *testing.T) {
	b := newBench(t)
	request := fetchRequest(12, b.topic("t", 1), 0, 0)
	request.Topics, request.MaxWaitMillis = nil, 3_600_000
	if response := b.fetch(request); len(response.Topics) > 0 {
		t.Errorf("topics %+v", response.Topics)
	}
}

// TestFetchOfUnknownPartitions: what the broker does not know holds up nobody's wait for the rest, else a client with one such partition would ask
// in a tight loop.
func TestFetchOfUnknownPartitions(t *testing.T) {
	cases := []struct {
		name    string
		unknown int // partitions that nobody has
		known   bool
		took    time.Duration
	}{
		{"an unknown partition", 1, false, 0},
		{"two unknown partitions", 2, false, 0},
		{"a known and an unknown partition", 1, true, time.Second},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				request := fetchRequest(12, b.topic("t", 1), 0, 0)
				wanted := request.Topics[0].Partitions[0]
				if !c.known {
					request.Topics[0].Partitions = nil
				}
				for i := range c.unknown {
					wanted.Partition = int32(5 + i)
					request.Topics[0].Partitions = append(request.Topics[0].Partitions, wanted)
				}
				request.MaxWaitMillis = 1000
				began := time.Now()
				rows := b.fetch(request).Topics[0].Partitions
				if took := time.Since(began); took != c.took {
					t.Errorf("answered after %v, want %v", took, c.took)
				}
				if last := rows[len(rows)-1]; last.ErrorCode != 3 || last.AbortedTransactions == nil {
					t.Errorf("row %+v", last)
				}
			})
		})
	}
}
