package clients

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

// crew is how members of one group come and go. Each one tells the witness what it does.
type crew interface {
	// join starts a member. A silent one will end without a word to the coordinator.
	join(name string, silent bool)
	end(name string)
}

// churn is one group whose members come and go while records are produced.
type churn struct {
	t       *testing.T
	broker  *harness.Broker
	topic   string
	group   string
	witness *witness
	crew    crew
	// judge decides at the end, when it knows how many records each partition has.
	judge   func(ends []int64)
	random  *rand.Rand
	present []string
	made    int
}

const churnPartitions = 6

// inChurn lets sessions of vanished members end soon.
var inChurn = map[string]string{"group.initial.rebalance.delay.ms": "0", "group.min.session.timeout.ms": "1000"}

// churnSession is the session timeout of every member in churn.
const churnSession = 1500 * time.Millisecond

// newChurn makes the topic. The crew is made by the caller, who knows the client.
func newChurn(t *testing.T, broker *harness.Broker) *churn {
	t.Helper()
	c := &churn{t: t, broker: broker, topic: uniqueName(t), group: uniqueName(t), witness: newWitness(t, churnPartitions)}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	c.judge = c.witness.finish
	c.random = rand.New(rand.NewPCG(seed, 0))
	createTopic(t, broker.Bootstrap(), c.topic, churnPartitions)
	return c
}

// run lets members come and go so many times, and judges: every record was read at least once, all are committed, no offset went back.
func (c *churn) run(rounds int, killed bool) {
	c.t.Helper()
	ctx, cancel := context.WithCancel(c.t.Context())
	var producer, observer sync.WaitGroup
	defer func() {
		cancel()
		producer.Wait()
		observer.Wait()
	}()
	producing, produced := context.WithCancel(ctx)
	producer.Go(func() { c.produce(producing) })
	observer.Go(func() { c.observe(ctx) })
	c.enter()
	c.enter()
	for round := range rounds {
		c.progress()
		if killed && round == rounds/2 {
			c.broker.Kill(c.t)
			c.broker.Resume(c.t)
		}
		c.change()
		if c.t.Failed() {
			break
		}
	}
	c.progress()
	produced()
	producer.Wait()
	ends := make([]int64, churnPartitions)
	for partition := range ends {
		ends[partition] = endOffset(c.t, c.broker.Bootstrap(), c.topic, int32(partition))
	}
	c.judge(ends)
	var records int64
	for _, end := range ends {
		records += end
	}
	c.t.Logf("%d records, read %d times, %d commits refused", records, c.witness.total, c.witness.refused)
}

// change makes one member come or go.
func (c *churn) change() {
	if len(c.present) < 2 || len(c.present) < 4 && c.random.IntN(2) == 0 {
		c.enter()
		return
	}
	at := c.random.IntN(len(c.present))
	c.crew.end(c.present[at])
	c.present = slices.Delete(c.present, at, at+1)
}

func (c *churn) enter() {
	c.made++
	name := fmt.Sprintf("member-%d", c.made)
	c.present = append(c.present, name)
	c.crew.join(name, c.random.IntN(3) == 0)
}

// progress waits until the group reads on.
func (c *churn) progress() {
	c.t.Helper()
	target := c.witness.readings() + 150
	eventually(c.t, 60*time.Second, func() error {
		if now := c.witness.readings(); now < target {
			return fmt.Errorf("the group stands still at %d of %d readings", now, target)
		}
		return nil
	})
}

// produce writes numbered records to all partitions, about a thousand each second.
func (c *churn) produce(ctx context.Context) {
	producer := newFranz(c.t, c.broker.Bootstrap(), impatient(c.topic)...)
	for number := 0; ctx.Err() == nil; number++ {
		r := &kgo.Record{Partition: int32(number % churnPartitions), Value: fmt.Append(nil, number)}
		producer.Produce(context.Background(), r, func(_ *kgo.Record, err error) {
			if err != nil && !errors.Is(err, kgo.ErrClientClosed) {
				c.t.Errorf("produce: %v", err)
			}
		})
		if number%10 == 0 {
			time.Sleep(10 * time.Millisecond)
		}
	}
	flushing, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := producer.Flush(flushing); err != nil {
		c.t.Errorf("produce: %v", err)
	}
}

// observe asks the coordinator again and again what is committed.
func (c *churn) observe(ctx context.Context) {
	client := newFranz(c.t, c.broker.Bootstrap(), impatient(c.topic)...)
	for ctx.Err() == nil {
		floor := c.witness.committedOffsets()
		offsets, err := committedOffsets(ctx, client, c.group, c.topic)
		// With an error the broker is away, or is loading the group.
		if err == nil {
			for partition, offset := range offsets {
				c.witness.told(partition, floor[partition], offset)
			}
		}
		time.Sleep(30 * time.Millisecond)
	}
}

// committedOffsets asks for all committed offsets of one topic, 0 where none is.
func committedOffsets(ctx context.Context, client *kgo.Client, group, topic string) (map[int32]int64, error) {
	request := kmsg.NewPtrOffsetFetchRequest()
	request.Group = group
	asked := kmsg.NewOffsetFetchRequestGroup()
	asked.Group = group
	request.Groups = append(request.Groups, asked)
	response, err := request.RequestWith(ctx, client)
	if err != nil {
		return nil, err
	}
	if err := kerr.ErrorForCode(response.Groups[0].ErrorCode); err != nil {
		return nil, err
	}
	offsets := map[int32]int64{}
	for _, answered := range response.Groups[0].Topics {
		for _, partition := range answered.Partitions {
			if answered.Topic != topic {
				continue
			}
			if err := kerr.ErrorForCode(partition.ErrorCode); err != nil {
				return nil, err
			}
			offsets[partition.Partition] = max(partition.Offset, 0)
		}
	}
	return offsets, nil
}
