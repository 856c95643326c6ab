package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"math"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// claim is the right to lead one partition at one epoch: an empty directory, made with mkdir and held by a handle.
// It is a directory because removing a file that another process of the same NFS client has open only renames it, and because an open
// directory has no state on the server that could outlive a dead client.
type claim struct {
	dir   vfs.Dir
	epoch Epoch
	held  vfs.Claim
}

// check is the fence check. nil: nobody had removed the claim when the file system answered. ErrFenced: somebody had.
// Any other error means that it could not be checked, and then nothing may be acknowledged.
func (c *claim) check() error {
	err := c.held.Check()
	switch {
	case err == nil:
		return nil
	case errors.Is(err, vfs.ErrUnlinked):
		return fmt.Errorf("epoch %d of %s: %w", c.epoch, c.dir.Path(), ErrFenced)
	}
	return &StorageError{Op: "check claim", Path: c.dir.Path(), Err: err}
}

func (c *claim) name() string { return claimName(c.epoch.claim()) }

// release removes the claim, which a handover may do because its manifest keeps the epoch's name alive.
func (c *claim) release() error {
	err := c.dir.Rmdir(c.name())
	if err != nil && !isGone(err) {
		return &StorageError{Op: "release claim", Path: c.dir.Path(), Err: err}
	}
	return nil
}

func (c *claim) close() { _ = c.held.Close() }

// makeClaim is step 1 of a takeover. The epoch is above every epoch in any name: a name that existed once and was lost would let two
// leaders share an epoch, and with it file names; therefore the highest name of a directory is never removed by anybody.
// Without any manifest the directory is not taken: it was never a partition, or lost its log, and an empty log would hide that.
func makeClaim(dir vfs.Dir, atLeast Epoch) (*claim, error) {
	names, err := listPartition(dir)
	if err != nil {
		return nil, err
	}
	if err := names.mayTake(dir); err != nil {
		return nil, err
	}
	for epoch := max(names.highest+1, atLeast); epoch >= 0 && epoch < math.MaxInt32; epoch++ {
		err := dir.Mkdir(claimName(epoch.claim()))
		if errors.Is(err, fs.ErrExist) {
			continue // also one that this process made: whether its answer was lost cannot be known, so it is not ours
		}
		if err != nil {
			return nil, &StorageError{Op: "make claim", Path: dir.Path(), Err: err}
		}
		return holdClaim(dir, epoch)
	}
	return nil, fmt.Errorf("%s: no epoch is left", dir.Path())
}

// mayTake gives up before a claim is made where none may be.
func (n *partitionNames) mayTake(dir vfs.Dir) error {
	if err := n.reserved(dir); err != nil {
		return err
	}
	if len(n.manifests) == 0 {
		return fmt.Errorf("%s: %w", dir.Path(), ErrNoManifest)
	}
	return nil
}

// reserved reports a claim that no leader can hold.
func (n *partitionNames) reserved(dir vfs.Dir) error {
	switch n.highestClaim() {
	case claimDeleted:
		return fmt.Errorf("%s: %w", dir.Path(), ErrDeleted)
	case claimMoving:
		return fmt.Errorf("%s: %w", dir.Path(), ErrMoving)
	}
	return nil
}

// holdClaim holds the claim that was just made, and makes it durable before anything is removed or written in its name: if a server crash undid
// the mkdir after lower claims had gone, the highest epoch would be gone with it, and another taker would get an epoch, and file names, that
// are in use.
func holdClaim(dir vfs.Dir, epoch Epoch) (*claim, error) {
	held, err := dir.Hold(claimName(epoch.claim()))
	if isGone(err) {
		return nil, fmt.Errorf("claim of epoch %d of %s was removed at once: %w", epoch, dir.Path(), ErrFenced)
	}
	if err != nil {
		return nil, &StorageError{Op: "hold claim", Path: dir.Path(), Err: err}
	}
	c := &claim{dir: dir, epoch: epoch, held: held}
	if err := dir.Sync(); err != nil {
		c.close()
		return nil, &StorageError{Op: "sync directory", Path: dir.Path(), Err: err}
	}
	return c, nil
}

// settle is step 2 of a takeover: it removes every lower claim and returns the listing in which the own one is the only claim and the
// highest name. Why each rule:
//   - give way only to a higher name: two takers that gave way to each other would leave the partition without an owner;
//   - never back off to a lower one: its holder may have been removed by us, and would be resurrected;
//   - list again after removing: a taker that listed before our mkdir may have claimed in between, below or above us;
//   - sync after removing: a removal that a server crash undoes would revive a fenced leader's claim;
//   - check at the end: a claim of the same name may be another's, if a server crash undid our mkdir before it was synced.
func (c *claim) settle() (*partitionNames, error) {
	for {
		names, err := listPartition(c.dir)
		if err != nil {
			return nil, err
		}
		if err := c.giveWay(names); err != nil {
			return nil, err
		}
		if len(names.claims) == 1 {
			return names, c.check()
		}
		if err := c.removeLower(names); err != nil {
			return nil, err
		}
	}
}

// giveWay removes the own claim if any name is higher than it, or reports that somebody removed it. A file of the own epoch is as good as a higher name:
// nothing has been written under this claim yet, so another leader has come and handed over between our first listing and our mkdir.
func (c *claim) giveWay(names *partitionNames) error {
	if err := names.reserved(c.dir); err != nil {
		return errors.Join(err, c.release()) // not ErrFenced: no other leader is meant
	}
	present := false
	for _, number := range names.claims {
		present = present || number == c.epoch.claim()
	}
	if names.highest > c.epoch || names.written >= c.epoch {
		return errors.Join(fmt.Errorf("epoch %d of %s gives way to a higher one: %w", c.epoch, c.dir.Path(), ErrFenced), c.release())
	}
	if !present {
		return fmt.Errorf("claim of epoch %d of %s was removed: %w", c.epoch, c.dir.Path(), ErrFenced)
	}
	return nil
}

// removeLower ends the leaderships below. Any error but "not found" stops the takeover: a claim that cannot be removed still acknowledges.
func (c *claim) removeLower(names *partitionNames) error {
	for _, number := range names.claims {
		if number >= c.epoch.claim() {
			continue
		}
		err := c.dir.Rmdir(claimName(number))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return &StorageError{Op: "remove claim", Path: c.dir.Path(), Err: err}
		}
	}
	if err := c.dir.Sync(); err != nil {
		return &StorageError{Op: "sync directory", Path: c.dir.Path(), Err: err}
	}
	return nil
}
