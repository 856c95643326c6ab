package api_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/internal/api"
	"github.com/kaas-rs/kaas/kaas-broker/internal/metastore"
	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

func TestProduceEveryVersion(t *testing.T) {
	b := newBench(t)
	topic := b.topic("t", 1)
	for version := int16(3); version <= 10; version++ {
		response := ask[*kmsg.ProduceResponse](b, produceRequest(version, -1, "t", 0, records(t, "a", "b")))
		row := response.Topics[0].Partitions[0]
		if want := int64(2 * (version - 3)); row.ErrorCode != 0 || row.BaseOffset != want || row.LogAppendTime != -1 {
			t.Errorf("v%d: %+v, want base offset %d", version, row, want)
		}
	}
	if got := b.partition(topic, 0).Offsets().HighWatermark; got != 16 {
		t.Errorf("high watermark %d", got)
	}
	if sites := b.decodes(); len(sites) > 0 {
		t.Errorf("records were decoded: %v", sites)
	}
}

func TestProduceErrors(t *testing.T) {
	b := groupBench(t)
	b.topic("t", 1)
	b.topic("compacted", 1, "cleanup.policy", "compact")
	b.topic("small", 1, "max.message.bytes", "100")
	b.topic("bounded", 1, "message.timestamp.before.max.ms", "1000")
	b.topic("__consumer_offsets", 1)
	keyless := batch.NewBuilder()
	keyless.Add(1, []byte("k"), nil)
	keyless.Add(1, nil, nil)
	noKey, err := keyless.Build()
	must(t, err)
	corrupt := records(t, "x")
	corrupt[len(corrupt)-1] ^= 1
	negative := build(t, func(b *batch.Builder) { b.ProducerID, b.ProducerEpoch = 5, 0 }, "x")
	zstd := build(t, func(b *batch.Builder) { b.Compression = batch.Zstd }, "x")
	transactional := build(t, func(b *batch.Builder) {
		b.Transactional, b.ProducerID, b.ProducerEpoch, b.BaseSequence = true, 5, 0, 0
	}, "x")
	id := "id"
	cases := []struct {
		name      string
		request   *kmsg.ProduceRequest
		code      int16
		bad       []int32 // record indexes
		message   bool
		logStart  int64
		withTxnID bool
	}{
		{"acks outside", produceRequest(10, 2, "t", 0, records(t, "x")), 21, nil, false, -1, false},
		{"acks far outside", produceRequest(3, -2, "t", 0, records(t, "x")), 21, nil, false, -1, false},
		{"acks outside, unknown topic", produceRequest(10, 2, "missing", 0, records(t, "x")), 3, nil, false, -1, false},
		{"unknown topic", produceRequest(10, -1, "missing", 0, records(t, "x")), 3, nil, false, -1, false},
		{"invalid topic name", produceRequest(10, -1, "a/b", 0, records(t, "x")), 3, nil, false, -1, false},
		{"unknown partition", produceRequest(10, -1, "t", 1, records(t, "x")), 3, nil, false, -1, false},
		{"negative partition", produceRequest(10, -1, "t", -1, records(t, "x")), 3, nil, false, -1, false},
		{"internal topic", produceRequest(10, -1, "__consumer_offsets", 0, records(t, "x")), 17, nil, false, -1, false},
		{"bad checksum", produceRequest(10, -1, "t", 0, corrupt), 2, nil, true, -1, false},
		{"too large", produceRequest(10, -1, "small", 0, records(t, "a value that is too long for a topic like this one")), 10, nil, true, -1, false},
		{"no key", produceRequest(10, -1, "compacted", 0, noKey), 87, []int32{1}, true, 0, false},
		{"too old", produceRequest(8, -1, "bounded", 0, records(t, "x", "y")), 32, []int32{0, 1}, true, 0, false},
		{"null records", produceRequest(10, -1, "t", 0, nil), 87, nil, true, -1, false},
		{"two batches", produceRequest(10, -1, "t", 0, append(records(t, "x"), records(t, "y")...)), 87, nil, true, -1, false},
		{"sequence missing", produceRequest(10, -1, "t", 0, negative), 87, nil, true, -1, false},
		{"zstd too early", produceRequest(6, -1, "t", 0, zstd), 76, nil, false, -1, false},
		{"transaction without id", produceRequest(10, -1, "t", 0, transactional), 53, nil, false, -1, false},
		{"transaction", produceRequest(10, -1, "t", 0, transactional), 49, nil, true, -1, true},
		{"plain batch with transactional id", produceRequest(10, -1, "t", 0, records(t, "x")), 0, nil, false, 0, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if c.withTxnID {
				c.request.TransactionID = &id
			}
			row := ask[*kmsg.ProduceResponse](b, c.request).Topics[0].Partitions[0]
			if row.ErrorCode != c.code {
				t.Fatalf("error %d, want %d (%v)", row.ErrorCode, c.code, row.ErrorMessage)
			}
			if c.request.Version >= 5 && row.LogStartOffset != c.logStart {
				t.Errorf("log start %d, want %d", row.LogStartOffset, c.logStart)
			}
			if c.code != 0 && row.BaseOffset != -1 {
				t.Errorf("base offset %d", row.BaseOffset)
			}
			if c.request.Version >= 8 && (row.ErrorMessage != nil) != c.message {
				t.Errorf("message %v, want one: %t", row.ErrorMessage, c.message)
			}
			if len(row.ErrorRecords) != len(c.bad) {
				t.Fatalf("bad records %+v, want %v", row.ErrorRecords, c.bad)
			}
			for i, bad := range row.ErrorRecords {
				if bad.RelativeOffset != c.bad[i] {
					t.Errorf("bad record %d, want %d", bad.RelativeOffset, c.bad[i])
				}
			}
		})
	}
}

func TestProducePartitionsAreIndependent(t *testing.T) {
	b := newBench(t)
	b.topic("t", 2)
	request := produceRequest(10, -1, "t", 0, records(t, "first"))
	corrupt := records(t, "x")
	corrupt[20] ^= 1
	request.Topics[0].Partitions = append(request.Topics[0].Partitions,
		kmsg.ProduceRequestTopicPartition{Partition: 1, Records: corrupt},
		kmsg.ProduceRequestTopicPartition{Partition: 9, Records: records(t, "x")},
		kmsg.ProduceRequestTopicPartition{Partition: 0, Records: records(t, "second")},
	)
	rows := ask[*kmsg.ProduceResponse](b, request).Topics[0].Partitions
	got := map[int32]int16{}
	for _, row := range rows {
		got[row.Partition] = row.ErrorCode
		if row.ErrorCode != 0 && (row.BaseOffset != -1 || row.LogStartOffset != -1) {
			t.Errorf("beside an error: %+v", row)
		}
	}
	if len(rows) != 3 || got[0] != 0 || got[1] != 2 || got[9] != 3 {
		t.Fatalf("rows %+v", rows)
	}
	topic, _ := b.catalog.Snapshot().ByName("t")
	set := b.fetch(fetchRequest(12, topic, 0, 0)).Topics[0].Partitions[0].RecordBatches
	if all := values(t, set); len(all) != 1 || all[0] != "second" {
		t.Errorf("a partition named twice holds %v", all)
	}
}

func TestProduceWithoutAcks(t *testing.T) {
	b := newBench(t)
	topic := b.topic("t", 1)
	if _, reply := b.reply(produceRequest(10, 0, "t", 0, records(t, "x"))); reply.Message != nil || reply.Close || !reply.Recycle {
		t.Errorf("accepted: %+v", reply)
	}
	if got := b.partition(topic, 0).Offsets().LogEnd; got != 1 {
		t.Errorf("log end %d", got)
	}
	if _, reply := b.reply(produceRequest(10, 0, "missing", 0, records(t, "x"))); reply.Message != nil || !reply.Close {
		t.Errorf("refused: %+v", reply)
	}
}

func TestProduceIdempotence(t *testing.T) {
	b := newBench(t)
	b.topic("t", 1)
	send := func(epoch int16, sequence int32) kmsg.ProduceResponseTopicPartition {
		return b.produce("t", 0, build(t, func(b *batch.Builder) { b.ProducerID, b.ProducerEpoch, b.BaseSequence = 9, epoch, sequence }, "a", "b"))
	}
	steps := []struct {
		name     string
		epoch    int16
		sequence int32
		code     int16
		offset   int64
	}{
		{"first", 1, 10, 0, 0},
		{"next", 1, 12, 0, 2},
		{"retry", 1, 10, 0, 0},
		{"gap", 1, 20, 45, -1},
		{"overlap", 1, 13, 45, -1},
		{"old epoch", 0, 14, 47, -1},
		{"new epoch at a later sequence", 2, 14, 45, -1},
		{"new epoch", 2, 0, 0, 4},
	}
	for _, s := range steps {
		if row := send(s.epoch, s.sequence); row.ErrorCode != s.code || row.BaseOffset != s.offset {
			t.Errorf("%s: error %d at %d, want %d at %d", s.name, row.ErrorCode, row.BaseOffset, s.code, s.offset)
		} else if s.code != 0 && row.LogStartOffset != 0 {
			t.Errorf("%s: log start %d", s.name, row.LogStartOffset)
		}
	}
}

func TestProduceAppendTime(t *testing.T) {
	b := newBench(t)
	b.topic("t", 1, "message.timestamp.type", "LogAppendTime")
	before := time.Now().UnixMilli()
	row := b.produce("t", 0, records(t, "x"))
	if row.ErrorCode != 0 || row.LogAppendTime < before || row.LogAppendTime > time.Now().UnixMilli() {
		t.Errorf("row %+v", row)
	}
}

func TestProduceConfigurationIsLive(t *testing.T) {
	b := newBench(t)
	b.topic("t", 1)
	b.write("t", 0, "a value that is too long for a topic like this one")
	_, err := b.topics.AlterTopicConfig(t.Context(), "t", false, func(overrides map[string]string) error {
		overrides["max.message.bytes"] = "100"
		return nil
	})
	must(t, err)
	if row := b.produce("t", 0, records(t, "a value that is too long for a topic like this one")); row.ErrorCode != 10 {
		t.Errorf("error %d", row.ErrorCode)
	}
}

// TestProducePipelines begins several requests before the first is answered: appends keep their order.
func TestProducePipelines(t *testing.T) {
	b := newBench(t)
	b.topic("t", 1)
	const count = 5
	finish := make([]func(context.Context) (int64, error), count)
	for i := range count {
		_, f := b.start(t.Context(), produceRequest(9, -1, "t", 0, records(t, "x")))
		finish[i] = func(ctx context.Context) (int64, error) {
			reply, err := f(ctx)
			return reply.Message.(*kmsg.ProduceResponse).Topics[0].Partitions[0].BaseOffset, err
		}
	}
	for i := range finish {
		offset, err := finish[i](t.Context())
		must(t, err)
		if offset != int64(i) {
			t.Errorf("request %d got offset %d", i, offset)
		}
	}
}

// opSync is the operation that makes records durable.
const opSync = vfs.OpSync

// stall returns a file system in memory, and a function that makes operations of one kind hang until it is called again for release.
func stall(t testing.TB) (fs vfs.FS, block func(kind vfs.OpKind) (release func())) {
	t.Helper()
	type hold struct {
		kind vfs.OpKind
		gate chan struct{}
	}
	var held atomic.Pointer[hold]
	fault := vfs.NewFault(vfs.NewMem(64<<20), func(op vfs.Op) error {
		if h := held.Load(); h != nil && op.Kind == h.kind && !op.After {
			<-h.gate
		}
		return nil
	})
	return fault, func(kind vfs.OpKind) func() {
		h := &hold{kind, make(chan struct{})}
		held.Store(h)
		return func() {
			held.Store(nil)
			close(h.gate)
		}
	}
}

func TestProduceTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fs, block := stall(t)
		b := newBench(t, func(s *setup) { s.fs = fs })
		topic := b.topic("t", 1)
		b.write("t", 0, "x")
		release := block(opSync)
		request := produceRequest(10, -1, "t", 0, records(t, "y"))
		request.TimeoutMillis = 700
		began := time.Now()
		_, reply := b.reply(request)
		if took := time.Since(began); took != 700*time.Millisecond {
			t.Errorf("answered after %v", took)
		}
		row := reply.Message.(*kmsg.ProduceResponse).Topics[0].Partitions[0]
		if row.ErrorCode != 7 || reply.Recycle {
			t.Errorf("error %d, recycle %t", row.ErrorCode, reply.Recycle)
		}
		if row := ask[*kmsg.ProduceResponse](b, produceRequest(10, 1, "t", 0, records(t, "z"))).Topics[0].Partitions[0]; row.ErrorCode != 7 {
			t.Errorf("acks=1 behind a stalled commit: error %d", row.ErrorCode)
		}
		release()
		synctest.Wait()
		if got := b.partition(topic, 0).Offsets().HighWatermark; got != 3 {
			t.Errorf("the appends did not go on: high watermark %d", got)
		}
	})
}

// A client that has left, or was told that its time is up, still counts until the log has its bytes: behind a slow disk there could be any number of such.
func TestProduceCountsUntilItIsWritten(t *testing.T) {
	for name, left := range map[string]bool{"the client has left": true, "its time is up": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fs, block := stall(t)
				b := newBench(t, func(s *setup) { s.fs = fs })
				b.topic("t", 1)
				release := block(vfs.OpWriteVec)
				ctx, leave := context.WithCancel(t.Context())
				if left {
					leave()
				}
				request := produceRequest(10, -1, "t", 0, records(t, "y"))
				request.TimeoutMillis = 700
				_, finish := b.start(ctx, request)
				reply, err := finish(ctx)
				if left != errors.Is(err, context.Canceled) || reply.Settle == nil {
					t.Fatalf("reply %+v, error %v", reply, err)
				}
				settled := make(chan bool, 1)
				go func() { settled <- reply.Settle() }()
				synctest.Wait()
				select {
				case <-settled:
					t.Error("settled before it is written")
				default:
				}
				release()
				if !<-settled {
					t.Error("the bytes are not free when they are written")
				}
				leave()
			})
		})
	}
}

func TestProduceToAFencedLeader(t *testing.T) {
	b := newBench(t)
	topic := b.topic("t", 1)
	b.write("t", 0, "x")
	b.steal(topic, 0)
	response := ask[*kmsg.ProduceResponse](b, produceRequest(10, -1, "t", 0, records(t, "y")))
	if row := response.Topics[0].Partitions[0]; row.ErrorCode != 6 || row.BaseOffset != -1 {
		t.Errorf("row %+v", row)
	}
}

func TestStorageErrorByVersion(t *testing.T) {
	cases := []struct {
		name    string
		version int16
		code    int16
	}{{"old clients", 3, 6}, {"from v4", 4, 56}, {"now", 10, 56}}
	b := newBench(t, func(s *setup) {
		s.wrap = func(_ *setup, p api.Partitions) api.Partitions { return unavailable{p} }
	})
	b.topic("t", 1)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			row := ask[*kmsg.ProduceResponse](b, produceRequest(c.version, -1, "t", 0, records(t, "y"))).Topics[0].Partitions[0]
			if row.ErrorCode != c.code || (c.version >= 8) != (row.ErrorMessage != nil) {
				t.Errorf("row %+v, want error %d", row, c.code)
			}
		})
	}
}

func TestLegacyProduceIsConverted(t *testing.T) {
	b := newBench(t)
	topic := b.topic("t", 1)
	set, err := batch.DownConvert(records(t, "a", "b"), 1, nil)
	must(t, err)
	for version := range int16(3) {
		if row := ask[*kmsg.ProduceResponse](b, produceRequest(version, -1, "t", 0, set)).Topics[0].Partitions[0]; row.ErrorCode != 0 {
			t.Errorf("v%d: error %d", version, row.ErrorCode)
		}
	}
	got := values(t, b.fetch(fetchRequest(12, topic, 0, 0)).Topics[0].Partitions[0].RecordBatches)
	if len(got) != 6 || got[5] != "b" {
		t.Errorf("log holds %v", got)
	}
}

// TestProduceToAFullVolume: producers may try again, and reads go on.
func TestProduceToAFullVolume(t *testing.T) {
	b := newBench(t, func(s *setup) { s.fs = vfs.NewMem(6 << 20) })
	topic := b.topic("t", 1)
	b.write("t", 0, "first")
	chunk := records(t, strings.Repeat("x", 500_000))
	var row kmsg.ProduceResponseTopicPartition
	for range 20 {
		if row = b.produce("t", 0, slices.Clone(chunk)); row.ErrorCode != 0 {
			break
		}
	}
	if row.ErrorCode != 56 || row.ErrorMessage == nil {
		t.Errorf("full: error %d, message %v", row.ErrorCode, row.ErrorMessage)
	}
	fetched := b.fetch(fetchRequest(12, topic, 0, 0)).Topics[0].Partitions[0]
	if got := values(t, fetched.RecordBatches); fetched.ErrorCode != 0 || len(got) == 0 || got[0] != "first" {
		t.Errorf("reads do not go on: error %d, %d values", fetched.ErrorCode, len(got))
	}
	must(t, ignore(b.topics.CreateTopic(t.Context(), metastore.NewTopic{Name: "small", Partitions: 1})))
}

// TestProduceWithoutTimeout: with one replica Kafka takes such requests too.
func TestProduceWithoutTimeout(t *testing.T) {
	b := newBench(t)
	b.topic("t", 1)
	request := produceRequest(10, -1, "t", 0, records(t, "x"))
	request.TimeoutMillis = 0
	if row := ask[*kmsg.ProduceResponse](b, request).Topics[0].Partitions[0]; row.ErrorCode != 0 {
		t.Errorf("error %d", row.ErrorCode)
	}
}
