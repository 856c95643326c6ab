package broker

import (
	"fmt"
	"math"

	"github.com/kaas-rs/kaas/kaas-broker/config"
)

// What needs an open file. The counts per partition are those of the log engine: its claim while it is idle; its directory, the last segment and
// its two indexes more while it is written to.
const (
	filesOfProcess    = 64
	filesPerIdle      = 1
	filesPerActive    = 5
	filesPerTakeover  = 4
	parallelTakeovers = 64
	fewConnections    = 100
	manyConnections   = 1000
)

// FileNeeds says how many open files a broker takes.
type FileNeeds struct {
	// Partitions were found when the broker was opened.
	Partitions int
	// Least is what it takes to keep them all open, a few of them in use, with 100 connections.
	Least int
	// Ample is what it takes with all of them in use and 1,000 connections.
	Ample int
}

// FileNeeds counts the partitions that Open has found and says how many files the broker will hold open, with the coordinator's slots. A process that may
// open fewer than the least would fail in the middle of its work.
func (b *Broker) FileNeeds() FileNeeds { return b.needsOf(b.partitionCount()) }

func (b *Broker) needsOf(partitions int) FileNeeds {
	slots := b.stores.slotCount
	if b.config.Mode == config.ModeDev {
		slots = 0 // in memory, as the partitions that may come are
	}
	return fileNeeds(partitions, slots, b.config.Network.MaxConnections)
}

// roomFor refuses partitions with which the broker could not be started again.
func (b *Broker) roomFor(partitions int) error {
	if b.options.OpenFiles <= 0 || b.config.Mode == config.ModeDev {
		return nil
	}
	if needs := b.needsOf(partitions); int64(needs.Least) > b.options.OpenFiles {
		return fmt.Errorf("%d partitions in all need at least %d open files, the broker may open %d: raise its limit (ulimit -n %d) and start it again",
			partitions, needs.Least, b.options.OpenFiles, needs.Ample)
	}
	return nil
}

func fileNeeds(partitions, slots, maxConnections int) FileNeeds {
	if maxConnections <= 0 {
		maxConnections = math.MaxInt
	}
	open := partitions + slots
	takeovers := min(open, parallelTakeovers) * filesPerTakeover
	return FileNeeds{
		Partitions: partitions,
		Least:      filesOfProcess + open*filesPerIdle + takeovers + min(maxConnections, fewConnections),
		Ample:      filesOfProcess + open*filesPerActive + takeovers + min(maxConnections, manyConnections),
	}
}
