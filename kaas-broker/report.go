package broker

import (
	"errors"
	"fmt"
	"time"

	"github.com/kaas-rs/kaas/kaas-broker/internal/health"
	"github.com/kaas-rs/kaas/kaas-broker/internal/ownership"
	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

var _ health.Source = (*Broker)(nil)

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
		PartitionsFailed:     []health.FailedPartition{},
		StorageStalled:       partitions.Stalled,
		StorageFull:          b.stores.volume.Full(),
		Problems:             []string{},
		RecordDecodes:        map[string]int64{},
		BatchReencodes:       map[string]int64{},
	}
	for _, f := range partitions.Failed {
		r.PartitionsFailed = append(r.PartitionsFailed, health.FailedPartition(f))
	}
	for _, p := range b.topics.Problems() {
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

// partitionHealth counts the partitions of the catalog: before Run has looked at it, ownership knows of none.
func (b *Broker) partitionHealth() ownership.Health {
	h := b.partitions.Health()
	h.Assigned = b.partitionCount()
	h.Recovering = max(h.Assigned-h.Served-len(h.Failed), 0)
	return h
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

// Ready returns nil once every partition was taken over or has failed to be, until the broker drains: a partition that cannot be taken does not hold
// the broker back.
func (b *Broker) Ready() error {
	if b.draining.Load() {
		return errDraining
	}
	if n := b.partitionHealth().Recovering; n > 0 {
		return fmt.Errorf("%w: %d to go", errRecovering, n)
	}
	return nil
}
