package broker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/kaas-rs/kaas/kaas-broker/internal/health"
	"github.com/kaas-rs/kaas/kaas-broker/internal/ownership"
	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

var _ health.Source = (*Broker)(nil)

func (b *Broker) openHealth(ctx context.Context) error {
	if b.config.Health.Address == "" {
		return nil
	}
	var err error
	b.health, err = health.Listen(ctx, health.Options{
		Address: b.config.Health.Address, MayMove: b.config.Health.MayMove, Source: b, Logger: b.log, Profiles: b.config.Health.Profiles,
	})
	return err
}

// HealthAddr is the bound address of the health server, nil when there is none; moved says that the configured port was taken.
func (b *Broker) HealthAddr() (addr net.Addr, moved bool) {
	if b.health == nil {
		return nil, false
	}
	return b.health.Addr(), b.health.Moved()
}

// Report describes the broker for /healthz. It takes no lock that is held during a file operation.
func (b *Broker) Report() health.Report {
	partitions := b.partitionHealth()
	id := b.config.BrokerID
	r := health.Report{
		Status:               "ok",
		Version:              b.options.Version,
		Mode:                 string(b.config.Mode),
		ClusterID:            b.ClusterID(),
		BrokerID:             id,
		UptimeMs:             time.Since(b.started).Milliseconds(),
		IsController:         true,
		ControllerID:         &id,
		Topics:               b.catalog.Snapshot().Len(),
		PartitionsAssigned:   partitions.Assigned,
		PartitionsLed:        partitions.Served,
		PartitionsRecovering: partitions.Recovering,
		SlotsAssigned:        partitions.Slots.Assigned,
		SlotsLed:             partitions.Slots.Served,
		PartitionsFailed:     []health.FailedPartition{},
		StorageStalled:       partitions.Stalled,
		StorageFull:          b.stores.isFull(),
		Problems:             []string{},
		RecordDecodes:        map[string]int64{},
		BatchReencodes:       map[string]int64{},
	}
	for _, f := range slices.Concat(partitions.Failed, partitions.Slots.Failed) {
		r.PartitionsFailed = append(r.PartitionsFailed, health.FailedPartition(f))
	}
	for _, p := range b.topics.Problems() {
		r.Problems = append(r.Problems, p.String())
	}
	for _, p := range b.groups.Problems() {
		r.Problems = append(r.Problems, p.String())
	}
	for site, counts := range b.tripwires.Snapshot() {
		addCounts(&r, site, counts)
	}
	if len(r.PartitionsFailed)+len(r.Problems) > 0 || r.StorageFull {
		r.Status = "degraded"
	}
	return r
}

// addCounts lists only sites that were passed, so that the usual answer is an empty object.
func addCounts(r *health.Report, site batch.Site, counts batch.Counts) {
	if counts.Decoded > 0 {
		r.RecordDecodes[string(site)] = int64(counts.Decoded)
	}
	if counts.Reencoded > 0 {
		r.BatchReencodes[string(site)] = int64(counts.Reencoded)
	}
}

// partitionHealth counts the partitions of the catalog and all slots: before Run has looked at them, ownership knows of none.
func (b *Broker) partitionHealth() ownership.Health {
	h := b.partitions.Health()
	h.Counts, h.Slots = assigned(h.Counts, b.partitionCount()), assigned(h.Slots, b.stores.slotCount)
	return h
}

func assigned(c ownership.Counts, count int) ownership.Counts {
	c.Assigned = count
	c.Recovering = max(count-c.Served-len(c.Failed), 0)
	return c
}

func (b *Broker) partitionCount() int {
	count := 0
	for _, topic := range b.catalog.Snapshot().Topics() {
		count += int(topic.Partitions)
	}
	return count
}

// What holds traffic back.
var (
	errRecovering = errors.New("partitions are still being taken over")
	errDraining   = errors.New("the broker is draining")
)

// Ready returns nil once every partition and every slot of the coordinator was taken over or has failed to be, until the broker drains: one that cannot
// be taken does not hold the broker back.
func (b *Broker) Ready() error {
	if b.draining.Load() {
		return errDraining
	}
	h := b.partitionHealth()
	if n := h.Recovering + h.Slots.Recovering; n > 0 {
		return fmt.Errorf("%w: %d to go", errRecovering, n)
	}
	return nil
}
