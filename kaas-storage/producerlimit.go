package storage

import (
	"cmp"
	"math"
	"slices"
)

const (
	// defaultMaxProducers takes about 400 MB when each has sent five batches.
	defaultMaxProducers = 1_000_000
	// maxPartitionProducers takes 25 MB of one manifest, which is written at every recovery point and read at a takeover.
	maxPartitionProducers = 250_000
)

// boundProducers has partitions forget the producers that they heard of longest ago when one of them, or all together, remember too many: whoever may
// produce can make up as many ids as he sends batches. A partition with fewer than its share forgets none. For the producer it is as if its state had
// expired: only a retry that comes that late would be taken for a new batch.
func (e *Engine) boundProducers(partitions []*Partition) {
	total, most := 0, 0
	for _, p := range partitions {
		count := p.producerCount()
		total, most = total+count, max(most, count)
	}
	if total <= e.options.MaxProducers && most <= maxPartitionProducers {
		return
	}
	counts := make([]int, len(partitions))
	for i, p := range partitions {
		counts[i] = p.producerCount()
	}
	share := min(fairShare(slices.Clone(counts), e.options.MaxProducers), maxPartitionProducers)
	for i, p := range partitions {
		if counts[i] > share {
			p.forgetProducers(share)
		}
	}
}

// fairShare is the largest bound on each count with which they are no more than most together; math.MaxInt if they are no more as they are. It sorts counts.
func fairShare(counts []int, most int) int {
	slices.Sort(counts)
	for i, count := range counts {
		if left := len(counts) - i; count > most/left {
			return most / left
		}
		most -= count
	}
	return math.MaxInt
}

func (p *Partition) producerCount() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.producers)
}

func (p *Partition) forgetProducers(keep int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.forgetful {
		p.forgetful = true
		p.log.Warn().Int("producers", len(p.producers)).Int("remembered", keep).
			Msg("more idempotent producers than are remembered; of those that were heard of longest ago a late retry may be stored twice")
	}
	p.transactions.forget(p.producers.trim(keep))
}

// trim forgets the producers that were heard of longest ago until there are no more than keep, those that never took part in a transaction first: a late
// marker is told from others by what is known of its producer. None with an open transaction goes. It returns what expire does.
func (t producerTable) trim(keep int) (marker int64) {
	marker = -1
	surplus := len(t) - keep
	if surplus <= 0 {
		return marker
	}
	idle := make([]*producer, 0, len(t))
	for _, p := range t {
		if p.transaction().Start < 0 {
			idle = append(idle, p)
		}
	}
	slices.SortFunc(idle, func(a, b *producer) int {
		return cmp.Or(cmp.Compare(worth(a), worth(b)), cmp.Compare(a.LastSeen, b.LastSeen), cmp.Compare(a.ID, b.ID))
	})
	for _, p := range idle[:min(surplus, len(idle))] {
		marker = max(marker, p.transaction().Marker)
		delete(t, p.ID)
	}
	return marker
}

// worth is larger for a producer that is forgotten later.
func worth(p *producer) int {
	if p.Transaction != nil {
		return 1
	}
	return 0
}
