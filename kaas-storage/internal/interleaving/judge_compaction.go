package interleaving

import (
	"fmt"

	"github.com/kaas-rs/kaas/kaas-storage"
)

// gaps: the log is compacted, so offsets may be missing.
func (j *judge) gaps() bool { return j.world.plan.Config.Compact }

// compacted lets everything be read again that the leader shows.
func (j *judge) compacted(l *leadership) {
	j.mu.Lock()
	defer j.mu.Unlock()
	l.read = 0
}

// compareGaps: what an owner has compacted away, no owner of a higher epoch shows, nor it itself.
func (j *judge) compareGaps(l *leadership, records map[int64]record, end int64) {
	if !j.gaps() {
		return
	}
	for offset := l.read; offset < end; offset++ {
		_, there := records[offset]
		by, gone := j.gone[offset]
		switch {
		case there && gone && by <= l.epoch:
			j.violatedf("offset %d was compacted away at epoch %d and is read from %s at epoch %d", offset, by, l.owner.name, l.epoch)
		case !there && !gone || !there && l.epoch < by:
			j.gone[offset] = l.epoch
		}
	}
}

// examineGone: a record that was acknowledged is only missing where a later one of its key is there, or where its transaction was aborted. The caller holds mu.
func (j *judge) examineGone(l *leadership, offset int64) error {
	value, acked := j.acked[offset]
	r, seen := j.seen[offset]
	switch {
	case seen && j.transactional(r):
		return nil // an aborted one need not have a successor, and CheckCompactedTransactions looks at those that are there
	case !acked || !seen:
		return nil
	}
	found, err := newest(l.partition, r.key)
	if err != nil {
		return err
	}
	if found <= offset {
		return fmt.Errorf("offset %d (%s) is gone, and the newest record of %s is at %d", offset, value, r.key, found)
	}
	return nil
}

func (j *judge) transactional(r record) bool { return r.producer >= firstTransactor }

// newest reads the log for the last record of a key, -1 for none.
func newest(p *storage.Partition, key string) (int64, error) {
	found := int64(-1)
	bounds := p.Offsets()
	for next := bounds.LogStart; next < bounds.HighWatermark; {
		records, end, err := readBatches(p, next, true)
		if err != nil {
			return 0, err
		}
		for offset, r := range records {
			if r.key == key {
				found = max(found, offset)
			}
		}
		next = end
	}
	return found, nil
}
