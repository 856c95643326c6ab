package api_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func listRequest(version int16, topic string, partition int32, timestamp int64) *kmsg.ListOffsetsRequest {
	request := kmsg.NewPtrListOffsetsRequest()
	request.Version = version
	wanted := kmsg.NewListOffsetsRequestTopicPartition()
	wanted.Partition, wanted.Timestamp, wanted.MaxNumOffsets = partition, timestamp, 10
	request.Topics = []kmsg.ListOffsetsRequestTopic{{Topic: topic, Partitions: []kmsg.ListOffsetsRequestTopicPartition{wanted}}}
	return request
}

func TestListOffsets(t *testing.T) {
	b := newBench(t, func(s *setup) { s.authorizer = denied{"secret": true} })
	topic := b.topic("t", 1)
	b.topic("empty", 1)
	b.topic("secret", 1)
	b.write("t", 0, "a", "b", "c") // at 1000, 2000, 3000
	b.write("t", 0, "d", "e")      // at 1000, 2000
	epoch := int32(b.partition(topic, 0).Epoch())
	believing := func(epoch int32) *kmsg.ListOffsetsRequest {
		request := listRequest(8, "t", 0, -1)
		request.Topics[0].Partitions[0].CurrentLeaderEpoch = epoch
		return request
	}
	unknownIsolation := listRequest(8, "t", 0, -1)
	unknownIsolation.IsolationLevel = 3
	committed := listRequest(8, "t", 0, -1)
	committed.IsolationLevel = 1
	cases := []struct {
		name      string
		request   *kmsg.ListOffsetsRequest
		code      int16
		offset    int64
		timestamp int64
		withEpoch bool // though the offset is 0
	}{
		{name: "latest", request: listRequest(8, "t", 0, -1), offset: 5, timestamp: -1},
		{name: "latest committed", request: committed, offset: 5, timestamp: -1},
		{name: "earliest", request: listRequest(8, "t", 0, -2), offset: 0, timestamp: -1},
		{name: "largest timestamp", request: listRequest(8, "t", 0, -3), offset: 2, timestamp: 3000},
		{name: "earliest local", request: listRequest(8, "t", 0, -4), offset: 0, timestamp: -1},
		{name: "largest timestamp in v1", request: listRequest(1, "t", 0, -3), offset: 2, timestamp: 3000},
		{name: "other negative time", request: listRequest(8, "t", 0, -5), offset: 0, timestamp: 1000},
		{name: "time of a record", request: listRequest(8, "t", 0, 2000), offset: 1, timestamp: 2000},
		{name: "time between records", request: listRequest(8, "t", 0, 2001), offset: 2, timestamp: 3000},
		{name: "time after all", request: listRequest(8, "t", 0, 3001), offset: -1, timestamp: -1},
		{name: "earliest of an empty log", request: listRequest(8, "empty", 0, -2), offset: 0, timestamp: -1, withEpoch: true},
		{name: "earliest local of an empty log", request: listRequest(8, "empty", 0, -4), offset: 0, timestamp: -1, withEpoch: true},
		{name: "latest of an empty log", request: listRequest(8, "empty", 0, -1), offset: 0, timestamp: -1},
		{name: "largest timestamp of an empty log", request: listRequest(8, "empty", 0, -3), offset: -1, timestamp: -1},
		{name: "time in an empty log", request: listRequest(8, "empty", 0, 5), offset: -1, timestamp: -1},
		{name: "unknown topic", request: listRequest(8, "missing", 0, -1), code: 3, offset: -1, timestamp: -1},
		{name: "unknown partition", request: listRequest(8, "t", 1, -1), code: 3, offset: -1, timestamp: -1},
		{name: "old epoch", request: believing(epoch - 1), code: 74, offset: -1, timestamp: -1},
		{name: "future epoch", request: believing(epoch + 1), code: 75, offset: -1, timestamp: -1},
		{name: "current epoch", request: believing(epoch), offset: 5, timestamp: -1},
		{name: "unknown isolation", request: unknownIsolation, code: -1, offset: -1, timestamp: -1},
		{name: "not allowed", request: listRequest(8, "secret", 0, -1), code: 29, offset: -1, timestamp: -1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			row := ask[*kmsg.ListOffsetsResponse](b, c.request).Topics[0].Partitions[0]
			if row.ErrorCode != c.code || row.Offset != c.offset || row.Timestamp != c.timestamp {
				t.Errorf("row %+v, want error %d, offset %d at %d", row, c.code, c.offset, c.timestamp)
			}
			if c.request.Version >= 4 && (c.offset > 0 || c.withEpoch) && row.LeaderEpoch != epoch {
				t.Errorf("leader epoch %d, want %d", row.LeaderEpoch, epoch)
			}
		})
	}
}

func TestListOffsetsOfOldClients(t *testing.T) {
	b := newBench(t)
	topic := b.topic("t", 1)
	b.write("t", 0, "a", "b", "c")
	must(t, ignore(b.partition(topic, 0).DeleteRecords(t.Context(), 1)))
	cases := []struct {
		name  string
		time  int64
		limit int32
		want  []int64
	}{
		{"latest", -1, 10, []int64{3, 1}},
		{"only the latest", -1, 1, []int64{3}},
		{"none", -1, 0, nil},
		{"negative limit", -1, -3, nil},
		{"earliest", -2, 10, []int64{1}},
		{"earliest local", -4, 10, []int64{1}},
		{"between", 3000, 10, []int64{2, 1}},
		{"before all", 5, 10, nil},
		{"after all", 9000, 10, []int64{3, 1}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			request := listRequest(0, "t", 0, c.time)
			request.Topics[0].Partitions[0].MaxNumOffsets = c.limit
			row := ask[*kmsg.ListOffsetsResponse](b, request).Topics[0].Partitions[0]
			if row.ErrorCode != 0 || !slices.Equal(row.OldStyleOffsets, c.want) {
				t.Errorf("row %+v, want %v", row, c.want)
			}
		})
	}
}

func TestListOffsetsOfAPartitionNamedTwice(t *testing.T) {
	b := newBench(t)
	b.topic("t", 2)
	request := listRequest(8, "t", 0, -1)
	first := request.Topics[0].Partitions[0]
	other := first
	other.Partition = 1
	request.Topics[0].Partitions = append(request.Topics[0].Partitions, other, first)
	var codes []int16
	for _, row := range ask[*kmsg.ListOffsetsResponse](b, request).Topics[0].Partitions {
		codes = append(codes, row.ErrorCode)
	}
	if !slices.Equal(codes, []int16{42, 0, 42}) {
		t.Errorf("codes %v", codes)
	}
	// v0 could always ask for several times of one partition.
	request.Version = 0
	for _, row := range ask[*kmsg.ListOffsetsResponse](b, request).Topics[0].Partitions {
		if row.ErrorCode != 0 {
			t.Errorf("error %d in v0", row.ErrorCode)
		}
	}
}

// TestAnswersOfAFencedLeader: what is computed without an append needs a fence check that began after the request arrived.
func TestAnswersOfAFencedLeader(t *testing.T) {
	cases := []struct {
		name string
		code func(b *bench) int16
	}{
		{"ListOffsets", func(b *bench) int16 {
			return ask[*kmsg.ListOffsetsResponse](b, listRequest(8, "t", 0, -1)).Topics[0].Partitions[0].ErrorCode
		}},
		{"OffsetForLeaderEpoch", func(b *bench) int16 {
			return ask[*kmsg.OffsetForLeaderEpochResponse](b, epochRequest(4, "t", -1, 1)).Topics[0].Partitions[0].ErrorCode
		}},
		{"DeleteRecords", func(b *bench) int16 {
			return ask[*kmsg.DeleteRecordsResponse](b, deleteRequest("t", 0, 1)).Topics[0].Partitions[0].ErrorCode
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			topic := b.topic("t", 1)
			b.write("t", 0, "a", "b")
			b.steal(topic, 0)
			if code := c.code(b); code != 6 {
				t.Errorf("error %d", code)
			}
		})
	}
}

func epochRequest(version int16, topic string, current, epoch int32) *kmsg.OffsetForLeaderEpochRequest {
	request := kmsg.NewPtrOffsetForLeaderEpochRequest()
	request.Version = version
	wanted := kmsg.NewOffsetForLeaderEpochRequestTopicPartition()
	wanted.CurrentLeaderEpoch, wanted.LeaderEpoch = current, epoch
	request.Topics = []kmsg.OffsetForLeaderEpochRequestTopic{{Topic: topic, Partitions: []kmsg.OffsetForLeaderEpochRequestTopicPartition{wanted}}}
	return request
}

func TestOffsetForLeaderEpoch(t *testing.T) {
	b := newBench(t)
	topic := b.topic("t", 1)
	b.write("t", 0, "a", "b")
	first := int32(b.partition(topic, 0).Epoch())
	b.writeElsewhere(topic, 0, records(t, "c"))
	b.produce("t", 0, records(t, "lost"))
	current := int32(b.regain(topic, 0).Epoch())
	b.write("t", 0, "d")
	missing := epochRequest(4, "missing", -1, 1)
	partition := epochRequest(4, "t", -1, 1)
	partition.Topics[0].Partitions[0].Partition = 1
	cases := []struct {
		name    string
		request *kmsg.OffsetForLeaderEpochRequest
		code    int16
		epoch   int32
		end     int64
	}{
		{"current", epochRequest(4, "t", current, current), 0, current, 4},
		{"past", epochRequest(4, "t", -1, first), 0, first, 2},
		{"older than all known", epochRequest(4, "t", -1, first-1), 0, first - 1, 0},
		{"future", epochRequest(4, "t", -1, current+1), 0, -1, -1},
		{"none", epochRequest(4, "t", -1, -1), 0, -1, -1},
		{"fenced", epochRequest(4, "t", first, first), 74, -1, -1},
		{"unknown leader epoch", epochRequest(4, "t", current+1, first), 75, -1, -1},
		{"unknown topic", missing, 3, -1, -1},
		{"unknown partition", partition, 3, -1, -1},
		{"without an epoch in the answer", epochRequest(0, "t", -1, first), 0, -1, 2},
		{"v1 does not check the leader epoch", epochRequest(1, "t", current+1, first), 0, first, 2},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			row := ask[*kmsg.OffsetForLeaderEpochResponse](b, c.request).Topics[0].Partitions[0]
			if row.ErrorCode != c.code || row.LeaderEpoch != c.epoch || row.EndOffset != c.end {
				t.Errorf("row %+v, want error %d, epoch %d, end %d", row, c.code, c.epoch, c.end)
			}
		})
	}
}

func deleteRequest(topic string, partition int32, offset int64) *kmsg.DeleteRecordsRequest {
	request := kmsg.NewPtrDeleteRecordsRequest()
	request.Version, request.TimeoutMillis = 2, 5000
	request.Topics = []kmsg.DeleteRecordsRequestTopic{{Topic: topic, Partitions: []kmsg.DeleteRecordsRequestTopicPartition{{Partition: partition, Offset: offset}}}}
	return request
}

func TestDeleteRecords(t *testing.T) {
	b := newBench(t)
	topic := b.topic("t", 1)
	b.topic("compacted", 1, "cleanup.policy", "compact")
	b.topic("both", 1, "cleanup.policy", "compact,delete")
	b.topic("neither", 1, "cleanup.policy", "")
	b.topic("__consumer_offsets", 1)
	b.write("t", 0, "a", "b", "c")
	cases := []struct {
		name    string
		request *kmsg.DeleteRecordsRequest
		code    int16
		low     int64
	}{
		{"some", deleteRequest("t", 0, 2), 0, 2},
		{"at the log start", deleteRequest("t", 0, 2), 0, 2},
		{"below the log start", deleteRequest("t", 0, 0), 0, 2},
		{"above the watermark", deleteRequest("t", 0, 4), 1, -1},
		{"negative", deleteRequest("t", 0, -2), 1, -1},
		{"all", deleteRequest("t", 0, -1), 0, 3},
		{"unknown topic", deleteRequest("missing", 0, 0), 3, -1},
		{"unknown partition", deleteRequest("t", 1, 0), 3, -1},
		{"compacted", deleteRequest("compacted", 0, 0), 44, -1},
		{"empty policy", deleteRequest("neither", 0, 0), 44, -1},
		{"compacted and deleted", deleteRequest("both", 0, 0), 0, 0},
		{"internal", deleteRequest("__consumer_offsets", 0, 0), 17, -1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			row := ask[*kmsg.DeleteRecordsResponse](b, c.request).Topics[0].Partitions[0]
			if row.ErrorCode != c.code || row.LowWatermark != c.low {
				t.Errorf("row %+v, want error %d, low %d", row, c.code, c.low)
			}
		})
	}
	twice := deleteRequest("t", 0, 99)
	twice.Topics[0].Partitions = append(twice.Topics[0].Partitions, deleteRequest("t", 0, 3).Topics[0].Partitions...)
	if rows := ask[*kmsg.DeleteRecordsResponse](b, twice).Topics[0].Partitions; len(rows) != 1 || rows[0].ErrorCode != 0 {
		t.Errorf("named twice: %+v", rows)
	}
	if row := ask[*kmsg.ListOffsetsResponse](b, listRequest(8, "t", 0, -2)).Topics[0].Partitions[0]; row.Offset != 3 {
		t.Errorf("earliest offset %d", row.Offset)
	}
	b.steal(topic, 0).Abandon()
	b.produce("t", 0, records(t, "lost"))
	if start := b.regain(topic, 0).Offsets().LogStart; start != 3 {
		t.Errorf("log start %d after a takeover", start)
	}
}

// TestDeleteRecordsTimesOut waits behind a commit that hangs.
func TestDeleteRecordsTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fs, block := stall(t)
		b := newBench(t, func(s *setup) { s.fs = fs })
		b.topic("t", 1)
		b.write("t", 0, "a")
		release := block(opSync)
		defer release()
		b.start(t.Context(), produceRequest(10, -1, "t", 0, records(t, "b")))
		synctest.Wait()
		request := deleteRequest("t", 0, 1)
		request.TimeoutMillis = 3000
		began := time.Now()
		row := ask[*kmsg.DeleteRecordsResponse](b, request).Topics[0].Partitions[0]
		if took := time.Since(began); took != 3*time.Second || row.ErrorCode != 7 || row.LowWatermark != -1 {
			t.Errorf("after %v: %+v", took, row)
		}
	})
}
