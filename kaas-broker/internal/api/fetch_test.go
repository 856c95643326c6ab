package api_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage"
)

func TestFetchEveryVersion(t *testing.T) {
	b := newBench(t)
	topic := b.topic("t", 1)
	b.write("t", 0, "a", "b")
	for version := int16(4); version <= 16; version++ {
		response := b.fetch(fetchRequest(version, topic, 0, 0))
		row := response.Topics[0].Partitions[0]
		if row.ErrorCode != 0 || row.HighWatermark != 2 || row.LastStableOffset != 2 || version >= 5 && row.LogStartOffset != 0 {
			t.Errorf("v%d: %+v", version, row)
		}
		if got := values(t, row.RecordBatches); !slices.Equal(got, []string{"a", "b"}) {
			t.Errorf("v%d: values %v", version, got)
		}
		if row.AbortedTransactions != nil || row.PreferredReadReplica != -1 {
			t.Errorf("v%d: aborted %v, preferred replica %d", version, row.AbortedTransactions, row.PreferredReadReplica)
		}
		if byID := version >= 13; byID != (response.Topics[0].TopicID == topic.ID) || byID == (response.Topics[0].Topic == "t") {
			t.Errorf("v%d: topic %q, id %x", version, response.Topics[0].Topic, response.Topics[0].TopicID)
		}
	}
	if sites := b.decodes(); len(sites) > 0 {
		t.Errorf("records were decoded: %v", sites)
	}
}

func TestFetchConvertsDown(t *testing.T) {
	b := newBench(t)
	topic := b.topic("t", 1)
	b.write("t", 0, "a", "b", "c")
	for version := range int16(4) {
		row := b.fetch(fetchRequest(version, topic, 0, 1)).Topics[0].Partitions[0]
		set := row.RecordBatches
		if row.ErrorCode != 0 || len(set) < 17 {
			t.Fatalf("v%d: %+v", version, row)
		}
		if magic, want := set[16], byte(version/2); magic != want {
			t.Errorf("v%d: magic %d", version, magic)
		}
		if offset := set[7]; offset != 1 {
			t.Errorf("v%d: begins at offset %d", version, offset)
		}
	}
	cut := fetchRequest(2, topic, 0, 0)
	cut.Topics[0].Partitions[0].PartitionMaxBytes = 30
	if set := b.fetch(cut).Topics[0].Partitions[0].RecordBatches; len(set) != 30 {
		t.Errorf("a first batch above the limit came as %d bytes", len(set))
	}
	if counts := b.decodes(); len(counts) != 1 || counts[batch.SiteDownConvert].Decoded == 0 {
		t.Errorf("decodes %v", counts)
	}
}

func TestFetchErrors(t *testing.T) {
	b := newBench(t, func(s *setup) { s.authorizer = denied{"secret": true} })
	topic := b.topic("t", 1)
	zstd := b.topic("zstd", 1, "compression.type", "zstd")
	modern := b.topic("modern", 1, "message.downconversion.enable", "false")
	secret := b.topic("secret", 1)
	b.write("t", 0, "a", "b")
	must(t, ignore(b.partition(topic, 0).DeleteRecords(t.Context(), 1)))
	epoch := int32(b.partition(topic, 0).Epoch())
	other := &catalog.Topic{Name: "missing", ID: [16]byte{1}}
	believing := func(epoch int32) *kmsg.FetchRequest {
		request := fetchRequest(12, topic, 0, 1)
		request.Topics[0].Partitions[0].CurrentLeaderEpoch = epoch
		return request
	}
	cases := []struct {
		name     string
		request  *kmsg.FetchRequest
		code     int16
		logStart int64
	}{
		{"unknown topic", fetchRequest(12, other, 0, 0), 3, -1},
		{"unknown id", fetchRequest(13, other, 0, 0), 100, -1},
		{"unknown partition", fetchRequest(13, topic, 5, 0), 3, -1},
		{"below the log start", fetchRequest(12, topic, 0, 0), 1, 1},
		{"above the log end", fetchRequest(12, topic, 0, 3), 1, 1},
		{"negative", fetchRequest(12, topic, 0, -5), 1, 1},
		{"at the log end", fetchRequest(12, topic, 0, 2), 0, 1},
		{"old epoch", believing(epoch - 1), 74, -1},
		{"future epoch", believing(epoch + 1), 75, -1},
		{"current epoch", believing(epoch), 0, 1},
		{"zstd for old clients", fetchRequest(9, zstd, 0, 0), 76, -1},
		{"zstd", fetchRequest(10, zstd, 0, 0), 0, 0},
		{"no conversion", fetchRequest(3, modern, 0, 0), 35, 0},
		{"not allowed", fetchRequest(12, secret, 0, 0), 29, -1},
		{"not allowed by id", fetchRequest(16, secret, 0, 0), 29, -1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.request.MaxWaitMillis = int32(time.Hour / time.Millisecond)
			if c.code == 0 {
				c.request.MaxWaitMillis = 0
			}
			row := b.fetch(c.request).Topics[0].Partitions[0]
			if row.ErrorCode != c.code {
				t.Fatalf("error %d, want %d", row.ErrorCode, c.code)
			}
			if c.request.Version >= 5 && row.LogStartOffset != c.logStart {
				t.Errorf("log start %d, want %d", row.LogStartOffset, c.logStart)
			}
			if c.code != 0 && len(row.RecordBatches) > 0 {
				t.Errorf("records with an error")
			}
		})
	}
}

func ignore[T any](_ T, err error) error { return err }

func TestFetchLeaderHints(t *testing.T) {
	b := newBench(t)
	topic := b.topic("t", 1)
	for _, version := range []int16{15, 16} {
		request := fetchRequest(version, topic, 0, 0)
		request.Topics[0].Partitions[0].CurrentLeaderEpoch = 0
		response := b.fetch(request)
		row := response.Topics[0].Partitions[0]
		if row.ErrorCode != 74 {
			t.Fatalf("v%d: error %d", version, row.ErrorCode)
		}
		told := row.CurrentLeader.LeaderID == nodeID && row.CurrentLeader.LeaderEpoch == int32(b.partition(topic, 0).Epoch()) &&
			len(response.Brokers) == 1 && response.Brokers[0].Host == host && response.Brokers[0].Port == port
		if told != (version == 16) {
			t.Errorf("v%d: leader %+v, brokers %+v", version, row.CurrentLeader, response.Brokers)
		}
	}
}

func TestFetchUnknownIsolationLevel(t *testing.T) {
	b := newBench(t)
	topic := b.topic("t", 1)
	for _, version := range []int16{4, 7, 12, 13} {
		request := fetchRequest(version, topic, 0, 0)
		request.IsolationLevel = 2
		response := b.fetch(request)
		if version >= 7 && response.ErrorCode != -1 {
			t.Errorf("v%d: error %d", version, response.ErrorCode)
		}
		if named := len(response.Topics) == 1 && response.Topics[0].Partitions[0].ErrorCode == -1; named != (version < 13) {
			t.Errorf("v%d: topics %+v", version, response.Topics)
		}
	}
}

func TestFetchReadCommitted(t *testing.T) {
	b := newBench(t)
	topic := b.topic("t", 1)
	b.write("t", 0, "a")
	request := fetchRequest(12, topic, 0, 0)
	request.IsolationLevel = 1
	row := b.fetch(request).Topics[0].Partitions[0]
	if row.AbortedTransactions == nil || len(row.AbortedTransactions) > 0 || len(values(t, row.RecordBatches)) != 1 {
		t.Errorf("row %+v", row)
	}
}

func TestFetchStartsInsideABatch(t *testing.T) {
	b := newBench(t)
	topic := b.topic("t", 1)
	b.write("t", 0, "a", "b", "c")
	b.write("t", 0, "d")
	if got := values(t, b.fetch(fetchRequest(12, topic, 0, 2)).Topics[0].Partitions[0].RecordBatches); !slices.Equal(got, []string{"a", "b", "c", "d"}) {
		t.Errorf("values %v", got)
	}
}

// TestFetchLimits is KIP-74: the first batch of the first partition that has any comes whole, later partitions get what remains.
func TestFetchLimits(t *testing.T) {
	b := newBench(t, func(s *setup) { s.config.Fetch.MaxBytes = 1000 })
	topic := b.topic("t", 3)
	one := records(t, strings.Repeat("x", 239)) // about 310 bytes
	size := len(one)
	for index := int32(1); index < 3; index++ {
		for range 4 {
			if row := b.produce("t", index, slices.Clone(one)); row.ErrorCode != 0 {
				t.Fatal(row.ErrorCode)
			}
		}
	}
	cases := []struct {
		name                   string
		version                int16
		maxBytes, partitionMax int32
		want                   [3]int
	}{
		{"both within", 12, 1 << 20, int32(size), [3]int{0, size, size}},
		{"cut in a batch", 12, 1 << 20, int32(size) + 10, [3]int{0, size + 10, size + 10}},
		{"first above its limit", 12, 1 << 20, 10, [3]int{0, size, 10}},
		{"first above the response's limit", 12, 10, 1 << 20, [3]int{0, size, 0}},
		{"limits of zero", 12, 0, 0, [3]int{0, size, 0}},
		{"the rest for the second", 12, int32(size) + 50, int32(size), [3]int{0, size, 50}},
		{"the broker's limit", 12, 1 << 20, 1 << 20, [3]int{0, 1000, 0}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			request := fetchRequest(c.version, topic, 0, 0)
			request.MaxBytes = c.maxBytes
			request.Topics[0].Partitions = nil
			for index := range int32(3) {
				wanted := kmsg.NewFetchRequestTopicPartition()
				wanted.Partition, wanted.PartitionMaxBytes = index, c.partitionMax
				request.Topics[0].Partitions = append(request.Topics[0].Partitions, wanted)
			}
			var got [3]int
			for i, row := range b.fetch(request).Topics[0].Partitions {
				got[i] = len(row.RecordBatches)
			}
			if got != c.want {
				t.Errorf("got %v bytes, want %v", got, c.want)
			}
		})
	}
}

func TestFetchDivergingEpoch(t *testing.T) {
	b := newBench(t)
	topic := b.topic("t", 1)
	b.write("t", 0, "a", "b")
	first := int32(b.partition(topic, 0).Epoch())
	// Another owner writes under a higher epoch, after one that wrote nothing, and the broker takes the partition back.
	silent := b.steal(topic, 0).Epoch()
	other := b.writeElsewhere(topic, 0, records(t, "c"))
	b.produce("t", 0, records(t, "lost"))
	p := b.regain(topic, 0)
	current := int32(p.Epoch())
	cases := []struct {
		name       string
		last       int32
		offset     int64
		code       int16
		epoch, end int64
	}{
		{"no epoch", -1, 2, 0, -1, -1},
		{"same history", first, 2, 0, -1, -1},
		{"ran ahead", first, 3, 0, int64(first), 2},
		{"other owner's history", int32(other), 3, 0, -1, -1},
		{"epoch that wrote nothing here", int32(silent), 3, 0, int64(first), 2},
		{"before the log start", first, -1, 1, -1, -1},
		{"above all known", current + 1, 3, 1, -1, -1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			request := fetchRequest(12, topic, 0, c.offset)
			request.MaxWaitMillis = 0
			request.Topics[0].Partitions[0].LastFetchedEpoch = c.last
			row := b.fetch(request).Topics[0].Partitions[0]
			got := row.DivergingEpoch
			if row.ErrorCode != c.code || int64(got.Epoch) != c.epoch || got.EndOffset != c.end {
				t.Errorf("error %d, diverging %+v", row.ErrorCode, got)
			}
			if c.end >= 0 && len(row.RecordBatches) > 0 {
				t.Errorf("records beside a diverging epoch")
			}
		})
	}
}

// regain waits until the broker leads a partition again that another owner took.
func (b *bench) regain(topic *catalog.Topic, index int32) *storage.Partition {
	b.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if p, err := b.partitions.Partition(topic, index); err == nil && p.Err() == nil {
			return p
		}
	}
	b.t.Fatal("the partition was not taken back")
	return nil
}

func TestFetchOfAFencedLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		topic := b.topic("t", 1)
		b.write("t", 0, "a")
		b.steal(topic, 0)
		if row := b.fetch(fetchRequest(12, topic, 0, 1)).Topics[0].Partitions[0]; row.ErrorCode != 0 {
			t.Errorf("a check of just now is good enough: error %d", row.ErrorCode)
		}
		time.Sleep(2 * time.Second)
		if row := b.fetch(fetchRequest(12, topic, 0, 0)).Topics[0].Partitions[0]; row.ErrorCode != 0 || len(row.RecordBatches) == 0 {
			t.Errorf("what is below the watermark never changes: %+v", row)
		}
		if row := b.fetch(fetchRequest(12, topic, 0, 1)).Topics[0].Partitions[0]; row.ErrorCode != 6 {
			t.Errorf("emptiness of a fenced leader: error %d", row.ErrorCode)
		}
	})
}

func TestFetchOfAPartitionNamedTwice(t *testing.T) {
	b := newBench(t)
	topic := b.topic("t", 2)
	b.write("t", 0, "a")
	b.write("t", 0, "b")
	for _, epoch := range []int32{-1, 0} {
		request := fetchRequest(12, topic, 0, 0)
		request.SessionEpoch = epoch
		first := request.Topics[0].Partitions[0]
		other, again := first, first
		other.Partition, again.FetchOffset = 1, 1
		request.Topics[0].Partitions = append(request.Topics[0].Partitions, other, again)
		rows := b.fetch(request).Topics[0].Partitions
		if len(rows) != 2 || rows[0].Partition != 0 || rows[1].Partition != 1 {
			t.Fatalf("session epoch %d: rows %+v", epoch, rows)
		}
		if got := values(t, rows[0].RecordBatches); len(got) != 1 || got[0] != "b" {
			t.Errorf("session epoch %d: records %q, want those of the last mention", epoch, got)
		}
	}
}

// TestFetchPassesOverControlBatches: an old client that got nothing for one would ask for it again for ever.
func TestFetchPassesOverControlBatches(t *testing.T) {
	b := newBench(t)
	topic := b.topic("t", 1)
	marker, err := batch.NewMarkerBatch(batch.Marker{}, 5, 0, 1000)
	must(t, err)
	ticket, err := b.partition(topic, 0).Append(marker, storage.AppendOptions{Sync: true})
	must(t, err)
	must(t, ticket.WaitDurable(t.Context()))
	b.write("t", 0, "a")
	request := fetchRequest(3, topic, 0, 0)
	request.Topics[0].Partitions[0].PartitionMaxBytes = int32(len(marker))
	if set := b.fetch(request).Topics[0].Partitions[0].RecordBatches; len(set) < 8 || set[7] != 1 {
		t.Errorf("got %x", set)
	}
}
