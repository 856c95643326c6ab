package coordinator_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/kaas-rs/kaas/kaas-coordinator"
	"github.com/kaas-rs/kaas/kaas-coordinator/group"
	"github.com/kaas-rs/kaas/kaas-coordinator/slot"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// BenchmarkCommit is one offset of one of 50 groups, over memory: what a commit costs beside its sync.
func BenchmarkCommit(b *testing.B) {
	for _, parallelism := range []int{1, 50} {
		b.Run(fmt.Sprintf("callers=%d", parallelism), func(b *testing.B) {
			filesystem := vfs.NewMem(1 << 30)
			prepare(b, filesystem)
			var ids []string
			for i := range 50 {
				ids = append(ids, fmt.Sprintf("group-%d", i))
			}
			p := begin(b, filesystem, coordinator.Options{}, ids...)
			waitServed(b, p, ids)
			var next atomic.Int64
			b.SetParallelism(parallelism)
			b.ReportAllocs()
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				id := ids[int(next.Add(1))%len(ids)]
				for n := int64(0); pb.Next(); n++ {
					if err := p.commit(id, commitOf("orders", 3, n)); err != nil {
						b.Error(err)
						return
					}
				}
			})
			b.StopTimer()
			p.stop()
		})
	}
}

// BenchmarkTransaction is a whole transaction of a partition and a group, markers and completion included: what it costs beside its syncs.
func BenchmarkTransaction(b *testing.B) {
	for _, producers := range []int{1, 50} {
		b.Run(fmt.Sprintf("producers=%d", producers), func(b *testing.B) {
			filesystem := vfs.NewMem(1 << 30)
			prepare(b, filesystem)
			var ids []string
			for i := range 2 * producers { // as many as callers at most, of two processors
				ids = append(ids, fmt.Sprintf("tx-%d", i), fmt.Sprintf("group-%d", i))
			}
			p := begin(b, filesystem, coordinator.Options{ProducerIDs: &producerIDs{}, Delivery: &instant{}}, ids...)
			waitServed(b, p, ids)
			var next atomic.Int64
			b.SetParallelism(producers)
			b.ReportAllocs()
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				i := int(next.Add(1)) % (len(ids) / 2)
				producer := p.register(ids[2*i])
				for n := int64(0); pb.Next(); n++ {
					if err := p.transact(ids[2*i], ids[2*i+1], producer, n); err != nil {
						b.Error(err)
						return
					}
				}
			})
			b.StopTimer()
			p.stop()
		})
	}
}

// instant places markers at once.
type instant struct{}

func (*instant) Deliver(_ context.Context, _ coordinator.Marker, to []coordinator.TransactionPartition) []error {
	return make([]error, len(to))
}

// transact commits a transaction. Its beginning waits for the markers of the one before.
func (p *process) transact(id, groupID string, producer coordinator.Producer, n int64) error {
	ctx := context.Background()
	if err := p.AddPartitions(ctx, id, producer, []coordinator.TransactionPartition{partitionOf("t", 0)}); err != nil {
		return err
	}
	if err := p.AddOffsets(ctx, id, producer, groupID); err != nil {
		return err
	}
	if err := p.stageAs(id, groupID, producer, commitOf("orders", 3, n)); err != nil {
		return err
	}
	return p.EndTransaction(ctx, id, producer, true)
}

// groupsReplayed is the number of groups that BenchmarkReplay replays, all slots together; each has a member and ten offsets.
const groupsReplayed = 10_000

// BenchmarkReplay opens the slots of 10,000 groups.
func BenchmarkReplay(b *testing.B) {
	filesystem := vfs.NewMem(1 << 30)
	prepare(b, filesystem)
	ids := fillGroups(b, filesystem)
	b.ReportAllocs()
	for b.Loop() {
		p := begin(b, filesystem, coordinator.Options{}, ids...)
		waitServed(b, p, ids)
		b.StopTimer()
		p.stop()
		b.StartTimer()
	}
}

// fillGroups writes groups as they are after a rebalance and ten commits.
func fillGroups(t testing.TB, filesystem vfs.FS) []string {
	t.Helper()
	writer := begin(t, filesystem, coordinator.Options{})
	defer writer.stop()
	slots := map[int]*slot.Slot{}
	var ids []string
	for i := range groupsReplayed {
		id := fmt.Sprintf("group-%d", i)
		ids = append(ids, id)
		s := slots[slot.Of(id, slot.DefaultCount)]
		if s == nil {
			s = openSlot(t, writer, slot.Of(id, slot.DefaultCount))
			slots[slot.Of(id, slot.DefaultCount)] = s
		}
		s.Lock()
		_, err := s.Append(recordsOf(t, id)...)
		s.Unlock()
		must(t, err)
	}
	for _, s := range slots {
		s.Lock()
		pending := s.Barrier()
		s.Unlock()
		must(t, pending.Wait(context.Background()))
		s.Close()
	}
	return ids
}

func openSlot(t testing.TB, p *process, number int) *slot.Slot {
	t.Helper()
	partition, err := p.take(context.Background(), number)
	must(t, err)
	s, err := slot.Open(context.Background(), partition, func(slot.Record, int64) error { return nil }, slot.Options{})
	must(t, err)
	return s
}

func recordsOf(t testing.TB, id string) []slot.Record {
	t.Helper()
	member := group.MemberSnapshot{
		MemberID: id + "-1", ClientID: "client", ClientHost: "/10.0.0.1", SessionTimeout: 45000, RebalanceTimeout: 300000,
		Protocols: []group.Protocol{{Name: "range", Metadata: subscription("orders")}}, Assignment: make([]byte, 40),
	}
	value, err := group.Snapshot{
		Version: 1, ProtocolType: "consumer", Protocol: "range", Generation: 3, Leader: member.MemberID, Members: []group.MemberSnapshot{member},
	}.Encode()
	must(t, err)
	records := []slot.Record{{Key: slot.GroupKey(id), Value: value}}
	for partition := range int32(10) {
		records = append(records, slot.Record{
			Key:   slot.OffsetKey(id, "orders", partition),
			Value: []byte(fmt.Sprintf(`{"version":1,"offset":%d,"leader_epoch":3,"time":1700000000000,"order":9,"metadata":""}`, partition)),
		})
	}
	return records
}

// TestReplayOfManyGroups keeps the promise of BenchmarkReplay where nobody runs it: the state is there, whatever the machine.
func TestReplayOfManyGroups(t *testing.T) {
	filesystem := vfs.NewMem(1 << 30)
	prepare(t, filesystem)
	ids := fillGroups(t, filesystem)
	p := begin(t, filesystem, coordinator.Options{}, ids...)
	waitServed(t, p, ids)
	list, err := p.List(context.Background())
	if err != nil || len(list) != groupsReplayed {
		t.Fatalf("%d groups, %v", len(list), err)
	}
	if got := p.fetch(ids[17], at("orders", 9)); got.Offset != 9 {
		t.Errorf("got %+v", got)
	}
}
