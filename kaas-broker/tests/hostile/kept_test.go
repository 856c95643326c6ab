package hostile

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

// What a client leaves behind may cost later: what its batches' headers say, what it commits, the producer ids that it makes up, what others can be told of it.

// seal puts a batch's checksum right.
func seal(b []byte) []byte {
	binary.BigEndian.PutUint32(b[17:], crc32.Checksum(b[21:], crc32.MakeTable(crc32.Castagnoli)))
	return b
}

// store produces one batch and fails the test if it is refused.
func (r *raw) store(t *testing.T, topic string, records []byte) {
	t.Helper()
	response, err := r.call(produceRequest(8, topic, -1, records), time.Minute)
	if err == nil {
		err = kerr.ErrorForCode(response.(*kmsg.ProduceResponse).Topics[0].Partitions[0].ErrorCode)
	}
	if err != nil {
		t.Fatalf("store %d KiB: %v", len(records)>>10, err)
	}
}

// listOffsetsRequest asks for a time.
func listOffsetsRequest(topic string, timestamp int64) *kmsg.ListOffsetsRequest {
	request := kmsg.NewPtrListOffsetsRequest()
	request.Version = 5
	partition := kmsg.NewListOffsetsRequestTopicPartition()
	partition.Timestamp, partition.CurrentLeaderEpoch = timestamp, -1
	request.Topics = []kmsg.ListOffsetsRequestTopic{{Topic: topic, Partitions: []kmsg.ListOffsetsRequestTopicPartition{partition}}}
	return request
}

// The headers of bombs promise records that are not there. Clients ask for them and leave at once, which must neither decompress the whole log nor go on
// beside the next ones.
func TestPromisedTimestamps(t *testing.T) {
	broker := start(t, harness.Options{Decodes: []string{"timestamp-lookup"}})
	createTopic(t, broker.Bootstrap(), "bombed", 1)
	made := bomb(t, batch.Gzip, bombBytes, 1)
	binary.BigEndian.PutUint64(made[35:], math.MaxInt64)
	connection := dial(t, broker.Bootstrap())
	for range pick(50, 500) {
		connection.store(t, "bombed", seal(made))
	}
	watch(t, broker, bombBound)
	runBeside(t, broker.Bootstrap())
	for range pick(100, 1000) {
		hasty := dial(t, broker.Bootstrap())
		if err := hasty.send(listOffsetsRequest("bombed", math.MaxInt64-1)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
		hasty.Close()
	}
	began := time.Now()
	response, err := connection.call(listOffsetsRequest("bombed", math.MaxInt64-1), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if found := response.(*kmsg.ListOffsetsResponse).Topics[0].Partitions[0]; found.Offset != 0 {
		t.Errorf("found %+v", found)
	}
	t.Logf("a patient client waited %v", time.Since(began).Round(time.Millisecond))
}

// The longest group id goes with each offset into the log.
func TestCommitsOfALongGroup(t *testing.T) {
	broker := start(t, harness.Options{})
	createTopic(t, broker.Bootstrap(), "committed", 1)
	watch(t, broker, 400*mib)
	runBeside(t, broker.Bootstrap())
	for _, rows := range []int{100, 10_000, 300_000} {
		request := kmsg.NewPtrOffsetCommitRequest()
		request.Version, request.Group, request.Generation, request.RetentionTimeMillis = 2, strings.Repeat("g", math.MaxInt16), -1, -1
		request.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: "committed", Partitions: make([]kmsg.OffsetCommitRequestTopicPartition, rows)}}
		response, err := dial(t, broker.Bootstrap()).call(request, time.Minute)
		if err != nil {
			t.Fatalf("%d offsets: %v", rows, err)
		}
		want := int16(0)
		if rows > 100 {
			want = kerr.InvalidCommitOffsetSize.Code
		}
		if code := response.(*kmsg.OffsetCommitResponse).Topics[0].Partitions[rows-1].ErrorCode; code != want {
			t.Errorf("%d offsets: code %d, want %d", rows, code, want)
		}
	}
}

// One question stands for megabytes of answer, and is asked again and again in one request.
func TestAskedAgainAndAgain(t *testing.T) {
	broker := start(t, harness.Options{Overrides: map[string]string{"group.initial.rebalance.delay.ms": "0"}})
	createTopic(t, broker.Bootstrap(), "committed", 100)
	fillGroups(t, broker.Bootstrap())
	watch(t, broker, 600*mib)
	runBeside(t, broker.Bootstrap())
	const again = 10_000
	offsets, groups := kmsg.NewPtrOffsetFetchRequest(), kmsg.NewPtrDescribeGroupsRequest()
	offsets.Version, groups.Version = 8, 5
	for range again {
		group := kmsg.NewOffsetFetchRequestGroup()
		group.Group = "committed"
		offsets.Groups = append(offsets.Groups, group)
		groups.Groups = append(groups.Groups, "joined")
	}
	connection := dial(t, broker.Bootstrap())
	response, err := connection.call(offsets, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	told, refused := 0, 0
	for _, group := range response.(*kmsg.OffsetFetchResponse).Groups {
		switch {
		case group.ErrorCode == kerr.InvalidRequest.Code:
			refused++
		case group.ErrorCode == 0 && len(group.Topics) == 1:
			told++
		}
	}
	if told < 100 || told > 200 || told+refused != again {
		t.Errorf("OffsetFetch: %d groups are told of, %d refused", told, refused)
	}
	if response, err = connection.call(groups, time.Minute); err != nil {
		t.Fatal(err)
	}
	told, refused = 0, 0
	for _, group := range response.(*kmsg.DescribeGroupsResponse).Groups {
		switch {
		case group.ErrorCode == kerr.InvalidRequest.Code:
			refused++
		case group.ErrorCode == 0 && len(group.Members) == 1:
			told++
		}
	}
	if told < 50 || told > 64 || told+refused != again {
		t.Errorf("DescribeGroups: %d groups are told of, %d refused", told, refused)
	}
}

// fillGroups leaves a group with 400 KB of offsets, and one whose member has sent a megabyte.
func fillGroups(t *testing.T, address string) {
	t.Helper()
	commit := kmsg.NewPtrOffsetCommitRequest()
	commit.Version, commit.Group, commit.Generation, commit.RetentionTimeMillis = 2, "committed", -1, -1
	metadata := strings.Repeat("m", 4000)
	commit.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: "committed"}}
	for i := range int32(100) {
		commit.Topics[0].Partitions = append(commit.Topics[0].Partitions, kmsg.OffsetCommitRequestTopicPartition{Partition: i, Metadata: &metadata})
	}
	join := kmsg.NewPtrJoinGroupRequest()
	join.Version, join.Group, join.ProtocolType = 2, "joined", "other"
	join.SessionTimeoutMillis, join.RebalanceTimeoutMillis = 60_000, 60_000
	join.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "p", Metadata: make([]byte, mib)}}
	connection := dial(t, address)
	response, err := connection.call(commit, time.Minute)
	if err != nil || response.(*kmsg.OffsetCommitResponse).Topics[0].Partitions[99].ErrorCode != 0 {
		t.Fatalf("commit: %v, %+v", err, response)
	}
	if response, err = connection.call(join, time.Minute); err != nil || response.(*kmsg.JoinGroupResponse).ErrorCode != 0 {
		t.Fatalf("join: %v, %+v", err, response)
	}
	joined := response.(*kmsg.JoinGroupResponse)
	sync := kmsg.NewPtrSyncGroupRequest()
	sync.Version, sync.Group, sync.MemberID, sync.Generation = 2, "joined", joined.MemberID, joined.Generation
	if response, err = connection.call(sync, time.Minute); err != nil || response.(*kmsg.SyncGroupResponse).ErrorCode != 0 {
		t.Fatalf("sync: %v, %+v", err, response)
	}
}

// A producer id for each batch: what the broker remembers of them, and what it writes and reads for them, is bounded.
func TestMadeUpProducerIDs(t *testing.T) {
	broker := start(t, harness.Options{})
	createTopic(t, broker.Bootstrap(), "ids", 1, "flush.messages", "1000000")
	watch(t, broker, 600*mib)
	runBeside(t, broker.Bootstrap())
	made := bomb(t, batch.None, 1, 1)
	binary.BigEndian.PutUint16(made[51:], 0)
	binary.BigEndian.PutUint32(made[53:], 0)
	const inFlight = 200
	connection := dial(t, broker.Bootstrap())
	count := pick(400_000, 3_000_000)
	for sent, received := 0, 0; received < count; received++ {
		for ; sent < count && sent-received < inFlight; sent++ {
			binary.BigEndian.PutUint64(made[43:], uint64(sent))
			if err := connection.send(produceRequest(8, "ids", 1, seal(made))); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := connection.receive(time.Minute); err != nil {
			t.Fatalf("batch %d: %v", received, err)
		}
	}
	time.Sleep(2 * time.Second)
	describe := kmsg.NewPtrDescribeProducersRequest()
	describe.Topics = []kmsg.DescribeProducersRequestTopic{{Topic: "ids", Partitions: make([]int32, 100)}}
	response, err := connection.call(describe, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	rows := response.(*kmsg.DescribeProducersResponse).Topics[0].Partitions
	if known := len(rows[0].ActiveProducers); known > 300_000 || known < 200_000 || rows[99].ErrorCode != kerr.InvalidRequest.Code {
		t.Errorf("%d producers are remembered; the partition named last has code %d", known, rows[99].ErrorCode)
	}
}
