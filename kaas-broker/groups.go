package broker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/kaas-rs/kaas/kaas-broker/config"
	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
	"github.com/kaas-rs/kaas/kaas-broker/internal/ownership"
	"github.com/kaas-rs/kaas/kaas-coordinator"
	"github.com/kaas-rs/kaas/kaas-coordinator/group"
	"github.com/kaas-rs/kaas/kaas-coordinator/slot"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// slots are the coordinator's partitions in the cluster directory, as ownership takes them.
func (b *Broker) slots() *ownership.Slots {
	c := slot.Config()
	if b.config.Mode == config.ModeDev {
		c.SegmentBytes = min(c.SegmentBytes, config.MemorySegmentBytes)
	}
	return &ownership.Slots{Count: b.stores.slotCount, Config: c, Volume: b.stores.slotsOn, Open: func(number int) (vfs.Dir, error) {
		return b.stores.slots.OpenDir(slot.DirName(number))
	}}
}

func (b *Broker) coordination() coordinator.Options {
	c := b.config.Groups
	return coordinator.Options{
		Source: b.partitions,
		Slots:  b.stores.slotCount,
		Topics: topicIDs{b.catalog},
		Groups: group.Config{
			MinSessionTimeout:     c.MinSessionTimeout,
			MaxSessionTimeout:     c.MaxSessionTimeout,
			MaxSize:               c.MaxSize,
			InitialRebalanceDelay: c.InitialRebalanceDelay,
		},
		Offsets: coordinator.OffsetConfig{
			Retention:     c.OffsetRetention,
			CheckInterval: c.OffsetCheckInterval,
			MaxMetadata:   metadataBound(c.MaxOffsetMetadata),
		},
		Logger:    b.log,
		Tripwires: b.tripwires,

		Transactions: b.transactions(),
		ProducerIDs:  b.producerIDs,
		Delivery:     b.delivery(),
	}
}

// metadataBound is a bound as the coordinator has it, for which 0 is the default.
func metadataBound(letters int) int {
	if letters <= 0 {
		return -1
	}
	return letters
}

// topicIDs tells the coordinator which topics there are.
type topicIDs struct{ catalog *catalog.Catalog }

func (t topicIDs) TopicID(name string) (uuid.UUID, bool) {
	topic, known := t.catalog.Snapshot().ByName(name)
	if !known {
		return uuid.Nil, false
	}
	return topic.ID, true
}

var errSlotsMissing = errors.New("coordinator slots are not served yet")

// slotPatience is how long the end of a topic waits for slots: after a start they are there in moments.
const slotPatience = 2 * time.Second

// forgetTopic removes the offsets of a deleted topic from all groups. Slots that are not served cannot be asked, so it must be tried again then.
func (b *Broker) forgetTopic(ctx context.Context, topic string, id uuid.UUID) error {
	tick := time.NewTicker(slotPatience / 100)
	defer tick.Stop()
	for deadline := time.Now().Add(slotPatience); b.groups.Served() < b.stores.slotCount; {
		select {
		case now := <-tick.C:
			if now.After(deadline) {
				return fmt.Errorf("%w: %d of %d", errSlotsMissing, b.stores.slotCount-b.groups.Served(), b.stores.slotCount)
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return b.groups.DeleteTopic(ctx, topic, id)
}

// startGroups runs the coordinator until end is called, which waits for it. It ends before the slots are handed over, so that nothing is asked of
// partitions that are closed.
func (b *Broker) startGroups(ctx context.Context) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { _ = b.groups.Run(ctx) }) // what it returns is the end of ctx
	return func() {
		cancel()
		running.Wait()
	}
}
