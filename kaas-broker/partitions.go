package broker

import (
	"fmt"
	"math"

	"github.com/kaas-rs/kaas/kaas-broker/config"
	"github.com/kaas-rs/kaas/kaas-broker/internal/memory"
	"github.com/kaas-rs/kaas/kaas-broker/internal/ownership"
	"github.com/kaas-rs/kaas/kaas-storage"
)

// openEngine makes the log engine. Settings of 0 stand for no retention and for no deadline; the engine's own 0 is its default.
func (b *Broker) openEngine() error {
	retention := b.config.Storage.RetentionInterval
	if retention == 0 {
		retention = -1
	}
	deadline := b.config.Storage.FsyncDeadline
	if deadline == 0 {
		deadline = math.MaxInt64
	}
	var err error
	b.engine, err = storage.NewEngine(storage.Options{
		Logger:             b.log,
		MeterProvider:      b.options.MeterProvider,
		Tripwires:          b.tripwires,
		IODeadline:         deadline,
		RetentionInterval:  retention,
		MaxProducers:       rememberedProducers(memory.Limit()),
		CompactionInterval: b.config.Storage.CompactionInterval,
		CompactionMemory:   b.config.Storage.CompactionMemory,
	})
	return err
}

// rememberedProducers is how many idempotent producers all partitions together remember: they take a sixteenth of the memory, at 400 bytes each, but there
// are not fewer than one partition may have. 0, the engine's default, stands for a memory of unknown size.
func rememberedProducers(memoryBytes int64) int {
	if memoryBytes <= 0 {
		return 0
	}
	return int(max(memoryBytes/16/400, 250_000))
}

// ownership describes who takes the partitions over, and what becomes of the broker when another process does.
func (b *Broker) ownership() ownership.Options {
	o := ownership.Options{
		Engine: b.engine, Volume: b.stores.volume, Catalog: b.catalog, Slots: b.slots(), Parallel: parallelTakeovers, Logger: b.log,
	}
	if b.config.Mode == config.ModeDev {
		o.MaxSegmentBytes = config.MemorySegmentBytes
	} else {
		o.Entitled = b.stores.cluster.CheckClaim
		o.Fenced = func(label string, err error) { b.fence(fmt.Errorf("partition %s: %w", label, err)) }
	}
	return o
}

// fence ends Run, once, with the first reason.
func (b *Broker) fence(err error) {
	b.fenceOnce.Do(func() { b.fenced <- fmt.Errorf("%w: %w", ErrFenced, err) })
}
