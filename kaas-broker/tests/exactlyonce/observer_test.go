package exactlyonce

import (
	"context"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// observer reads the committed records of a topic as they come.
type observer struct {
	run   *run
	topic string

	mu   sync.Mutex
	seen []map[int64]stamp // by partition and offset
	next []int64           // by partition
}

func newObserver(r *run, topic string) *observer {
	o := &observer{run: r, topic: topic, next: make([]int64, partitions)}
	for range partitions {
		o.seen = append(o.seen, map[int64]stamp{})
	}
	return o
}

// fromStart are the options of a reader of a whole topic, which never skips anything.
func fromStart(topic string, more ...kgo.Opt) []kgo.Opt {
	starts := map[int32]kgo.Offset{}
	for partition := range int32(partitions) {
		starts[partition] = kgo.NewOffset().At(0)
	}
	return append([]kgo.Opt{kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: starts}), kgo.ConsumeResetOffset(kgo.NoResetOffset())}, more...)
}

func (o *observer) watch(ctx context.Context) {
	kafka, err := kgo.NewClient(newProcess(o.run.world).options(fromStart(o.topic)...)...)
	if err != nil {
		o.run.t.Error(err)
		return
	}
	defer kafka.Close()
	for ctx.Err() == nil {
		kafka.PollFetches(ctx).EachRecord(o.note)
	}
}

func (o *observer) note(r *kgo.Record) {
	s, err := parseStamp(r.Value)
	o.mu.Lock()
	defer o.mu.Unlock()
	if err != nil || r.Offset < o.next[r.Partition] {
		o.run.t.Errorf("%s%s-%d: offset %d with %q where %d is next", o.run.name, o.topic, r.Partition, r.Offset, r.Value, o.next[r.Partition])
	}
	o.seen[r.Partition][r.Offset], o.next[r.Partition] = s, r.Offset+1
}

func (o *observer) count() (records int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, seen := range o.seen {
		records += len(seen)
	}
	return records
}

// offsets are the committed offsets of the group, which never go back.
type offsets struct {
	t    verdict
	name string

	mu    sync.Mutex
	known []int64 // by partition: the highest that anybody was told
}

func newOffsets(t verdict, name string) *offsets {
	return &offsets{t: t, name: name, known: make([]int64, partitions)}
}

// committed takes in what a member has committed.
func (o *offsets) committed(partition int32, offset int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.known[partition] = max(o.known[partition], offset)
}

func (o *offsets) floor() []int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]int64(nil), o.known...)
}

// watch asks the coordinator again and again.
func (o *offsets) watch(ctx context.Context, w world) {
	kafka, err := kgo.NewClient(newProcess(w).options()...)
	if err != nil {
		o.t.Error(err)
		return
	}
	defer kafka.Close()
	for ctx.Err() == nil {
		floor := o.floor()
		for partition, offset := range fetchOffsets(ctx, kafka) {
			if offset < floor[partition] {
				o.t.Errorf("%spartition %d: the group is at %d, it was told %d before", o.name, partition, offset, floor[partition])
			}
			o.committed(partition, offset)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// fetchOffsets are the group's committed offsets, without those that cannot be told now.
func fetchOffsets(ctx context.Context, kafka *kgo.Client) map[int32]int64 {
	asked := kmsg.NewOffsetFetchRequestGroup()
	asked.Group = group
	request := kmsg.NewPtrOffsetFetchRequest()
	request.RequireStable, request.Groups = true, append(request.Groups, asked)
	asking, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	response, err := request.RequestWith(asking, kafka)
	if err != nil || kerr.ErrorForCode(response.Groups[0].ErrorCode) != nil {
		return nil
	}
	told := map[int32]int64{}
	for _, topic := range response.Groups[0].Topics {
		for _, p := range topic.Partitions {
			if p.ErrorCode == 0 {
				told[p.Partition] = p.Offset
			}
		}
	}
	return told
}
