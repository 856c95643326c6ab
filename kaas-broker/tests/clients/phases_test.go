package clients

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

// The broker is killed in each phase of a transaction, before or after it has answered. The producer then goes on where it was, or another instance takes its
// place. Somebody who reads committed records all the time sees each committed transaction as a whole and nothing of any other, and the group has exactly the
// offsets of those.
func TestTransactionsOutliveKillsInEachPhase(t *testing.T) {
	broker := harness.Start(t, harness.Options{})
	topic := uniqueName(t)
	createTopic(t, broker.Bootstrap(), topic, phasedPartitions)
	reader := readCommitted(t, broker.Bootstrap(), topic)
	var sure, either []string
	for phase, step := range steps {
		for _, answered := range []bool{true, false} {
			for _, goesOn := range []bool{true, false} {
				name := fmt.Sprintf("%s-answered:%v-goes-on:%v", step.name, answered, goesOn)
				x := newPhased(t, broker, topic, name)
				for _, before := range steps[:phase] {
					before.take(x)
				}
				x.killIn(step, answered)
				decided := step.name == "end"
				switch {
				case goesOn:
					for _, after := range steps[phase:] {
						after.take(x)
					}
					sure = append(sure, name)
				case decided && answered:
					sure = append(sure, name)
				case decided:
					either = append(either, name)
				}
				if !goesOn {
					x = newPhased(t, broker, topic, name+"-next")
					x.id = name // the successor of the one that is gone
					for _, each := range steps {
						each.take(x)
					}
					sure = append(sure, x.name)
				}
				x.wantOffsets()
			}
		}
	}
	reader.judge(sure, either)
}

const phasedPartitions = 2

// steps are the phases of a transaction. Each may be taken again when its answer was lost.
var steps = []struct {
	name string
	take func(x *phased)
}{
	{"register", (*phased).register},
	{"add-partitions", (*phased).addPartitions},
	{"produce", (*phased).produce},
	{"add-offsets", (*phased).addOffsets},
	{"stage-offsets", (*phased).stageOffsets},
	{"end", (*phased).end},
}

// phased is a producer whose transaction is made by hand: one record to each partition, with its name, and one offset of a group of its own.
type phased struct {
	t      *testing.T
	broker *harness.Broker
	client *kgo.Client
	topic  string
	name   string
	id     string
	pid    int64
	epoch  int16
	lost   chan struct{} // closed when answers are not waited for any more; nil else
}

func newPhased(t *testing.T, broker *harness.Broker, topic, name string) *phased {
	t.Helper()
	return &phased{t: t, broker: broker, client: newFranz(t, broker.Bootstrap(), kgo.MaxVersions(kversion.V3_4_0())), topic: topic, name: name, id: name}
}

// killIn kills the broker when it has answered a step, or while it is at it, and starts it again.
func (x *phased) killIn(step struct {
	name string
	take func(x *phased)
}, answered bool,
) {
	x.t.Helper()
	if answered {
		step.take(x)
		x.broker.Kill(x.t)
	} else {
		unheard := *x
		unheard.lost = make(chan struct{})
		var asking sync.WaitGroup
		asking.Go(func() { step.take(&unheard) })
		time.Sleep(time.Duration(rand.IntN(2000)) * time.Microsecond)
		x.broker.Kill(x.t)
		close(unheard.lost)
		asking.Wait()
	}
	x.broker.Resume(x.t)
}

// ask sends a request until it is granted, or until its answer is lost.
func (x *phased) ask(request kmsg.Request, codeOf func(kmsg.Response) int16) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for {
		response, err := x.client.SeedBrokers()[0].Request(ctx, request)
		if err == nil {
			if err = kerr.ErrorForCode(codeOf(response)); err == nil {
				return
			}
			if !kerr.IsRetriable(err) && err != kerr.ConcurrentTransactions { //nolint:errorlint // as it is
				x.t.Errorf("%s: %s: %v", x.name, kmsg.NameForKey(request.Key()), err)
				return
			}
		}
		select {
		case <-x.lost:
			return
		case <-ctx.Done():
			x.t.Errorf("%s: %s: %v", x.name, kmsg.NameForKey(request.Key()), err)
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (x *phased) register() {
	request := kmsg.NewPtrInitProducerIDRequest()
	request.TransactionalID, request.TransactionTimeoutMillis = &x.id, 60_000
	x.ask(request, func(r kmsg.Response) int16 {
		response := r.(*kmsg.InitProducerIDResponse)
		x.pid, x.epoch = response.ProducerID, response.ProducerEpoch
		return response.ErrorCode
	})
}

func (x *phased) addPartitions() {
	request := kmsg.NewPtrAddPartitionsToTxnRequest()
	request.TransactionalID, request.ProducerID, request.ProducerEpoch = x.id, x.pid, x.epoch
	request.Topics = []kmsg.AddPartitionsToTxnRequestTopic{{Topic: x.topic, Partitions: []int32{0, 1}}}
	x.ask(request, func(r kmsg.Response) int16 {
		return r.(*kmsg.AddPartitionsToTxnResponse).Topics[0].Partitions[0].ErrorCode
	})
}

func (x *phased) produce() {
	for partition := range int32(phasedPartitions) {
		b := batch.NewBuilder()
		b.Transactional, b.ProducerID, b.ProducerEpoch, b.BaseSequence = true, x.pid, x.epoch, 0
		b.Add(time.Now().UnixMilli(), nil, []byte(x.name))
		records, err := b.Build()
		if err != nil {
			x.t.Error(err)
			return
		}
		request := kmsg.NewPtrProduceRequest()
		request.TransactionID, request.Acks, request.TimeoutMillis = &x.id, -1, 10_000
		request.Topics = []kmsg.ProduceRequestTopic{{Topic: x.topic, Partitions: []kmsg.ProduceRequestTopicPartition{{Partition: partition, Records: records}}}}
		x.ask(request, func(r kmsg.Response) int16 { return r.(*kmsg.ProduceResponse).Topics[0].Partitions[0].ErrorCode })
	}
}

func (x *phased) addOffsets() {
	request := kmsg.NewPtrAddOffsetsToTxnRequest()
	request.TransactionalID, request.ProducerID, request.ProducerEpoch, request.Group = x.id, x.pid, x.epoch, x.name
	x.ask(request, func(r kmsg.Response) int16 { return r.(*kmsg.AddOffsetsToTxnResponse).ErrorCode })
}

// phasedOffset is what each transaction commits.
const phasedOffset = 7

func (x *phased) stageOffsets() {
	request := kmsg.NewPtrTxnOffsetCommitRequest()
	request.TransactionalID, request.ProducerID, request.ProducerEpoch, request.Group = x.id, x.pid, x.epoch, x.name
	request.Generation = -1
	staged := kmsg.NewTxnOffsetCommitRequestTopicPartition()
	staged.Offset = phasedOffset
	request.Topics = []kmsg.TxnOffsetCommitRequestTopic{{Topic: x.topic, Partitions: []kmsg.TxnOffsetCommitRequestTopicPartition{staged}}}
	x.ask(request, func(r kmsg.Response) int16 {
		return r.(*kmsg.TxnOffsetCommitResponse).Topics[0].Partitions[0].ErrorCode
	})
}

func (x *phased) end() {
	request := kmsg.NewPtrEndTxnRequest()
	request.TransactionalID, request.ProducerID, request.ProducerEpoch, request.Commit = x.id, x.pid, x.epoch, true
	x.ask(request, func(r kmsg.Response) int16 { return r.(*kmsg.EndTxnResponse).ErrorCode })
}

// wantOffsets checks what the group has when nothing is open any more.
func (x *phased) wantOffsets() {
	x.t.Helper()
	request := kmsg.NewPtrOffsetFetchRequest()
	request.RequireStable = true
	request.Groups = []kmsg.OffsetFetchRequestGroup{{Group: x.name, Topics: []kmsg.OffsetFetchRequestGroupTopic{{Topic: x.topic, Partitions: []int32{0}}}}}
	var got int64
	x.ask(request, func(r kmsg.Response) int16 {
		group := r.(*kmsg.OffsetFetchResponse).Groups[0]
		if group.ErrorCode != 0 {
			return group.ErrorCode
		}
		got = group.Topics[0].Partitions[0].Offset
		return group.Topics[0].Partitions[0].ErrorCode
	})
	if got != phasedOffset {
		x.t.Errorf("%s: the group is at %d, want %d", x.name, got, phasedOffset)
	}
}

// phasedReader reads a topic all the time.
type phasedReader struct {
	t    *testing.T
	stop context.CancelFunc
	done chan struct{}
	seen [phasedPartitions][]string
	mu   sync.Mutex
}

func readCommitted(t *testing.T, address, topic string) *phasedReader {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	r := &phasedReader{t: t, stop: stop, done: make(chan struct{})}
	client := newFranz(t, address, kgo.ConsumeTopics(topic), kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.FetchMaxWait(100*time.Millisecond))
	go func() {
		defer close(r.done)
		for ctx.Err() == nil {
			client.PollFetches(ctx).EachRecord(func(record *kgo.Record) {
				r.mu.Lock()
				defer r.mu.Unlock()
				r.seen[record.Partition] = append(r.seen[record.Partition], string(record.Value))
			})
		}
	}()
	return r
}

// judge waits for all that is sure to be there, and ends the reader.
func (r *phasedReader) judge(sure, either []string) {
	r.t.Helper()
	eventually(r.t, 20*time.Second, func() error {
		r.mu.Lock()
		defer r.mu.Unlock()
		for partition, seen := range r.seen {
			for _, name := range sure {
				if !slices.Contains(seen, name) {
					return fmt.Errorf("partition %d does not have %s", partition, name)
				}
			}
		}
		return nil
	})
	r.stop()
	<-r.done
	for partition, seen := range r.seen {
		for i, name := range seen {
			if slices.Contains(seen[:i], name) {
				r.t.Errorf("partition %d has %s twice", partition, name)
			}
			if !slices.Contains(sure, name) && !slices.Contains(either, name) {
				r.t.Errorf("partition %d has %s, which was not committed", partition, name)
			}
		}
	}
	for _, name := range either {
		if slices.Contains(r.seen[0], name) != slices.Contains(r.seen[1], name) {
			r.t.Errorf("half of %s is there", name)
		}
	}
	r.t.Logf("%d transactions are committed", len(r.seen[0]))
}
