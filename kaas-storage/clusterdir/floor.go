package clusterdir

import (
	"fmt"

	storage "github.com/kaas-rs/kaas/kaas-storage"
)

// EpochFloor is the number that first manifests of new partitions carry: their leaders' epochs are above it. 0 at first. It is
// read anew each time, because other processes may raise it.
func (d *Dir) EpochFloor() (storage.Epoch, error) {
	highest, err := d.floor.highest()
	if err != nil {
		return 0, fmt.Errorf("read epoch floor: %w", err)
	}
	return storage.Epoch(max(highest, 0)), nil
}

// RaiseEpochFloor makes the floor at least epoch. It is durable when the call returns and never goes down. Deleting a topic raises
// it above the topic's epochs first, so that a namesake made later starts above them.
//
// Atomic? Making the name is. Idempotent? Yes. One writer? Any number: the floor is the highest name, so a late, lower raise has no
// effect. Name as identity? The name is the number.
func (d *Dir) RaiseEpochFloor(epoch storage.Epoch) error {
	if epoch < 0 {
		return fmt.Errorf("raise epoch floor to %d: %w", epoch, ErrFormat)
	}
	if err := d.floor.raise(int64(epoch)); err != nil {
		return fmt.Errorf("raise epoch floor: %w", err)
	}
	d.tidy(d.floor, int64(epoch))
	return nil
}

// tidy trims, and only logs when it cannot: leftovers harm nobody.
func (d *Dir) tidy(n numbers, durable int64) {
	if err := n.trim(durable); err != nil {
		d.logger.Debug().Err(err).Str("dir", n.dir.Path()).Msg("old numbers could not be removed")
	}
}
