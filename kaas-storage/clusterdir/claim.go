package clusterdir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"time"

	storage "github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

const maxEpoch = math.MaxInt32

// claim is the right to run on this directory, until somebody removes it.
type claim struct {
	epoch storage.Epoch
	held  vfs.Claim
}

// Claim takes the directory over from whoever holds it. It returns ErrFenced when another process is taking it at the same time
// with a higher epoch: of two, the later one wins. A second call takes a higher epoch.
//
// Atomic? Making the claim's directory is. Idempotent? Yes: the next attempt takes a higher epoch and removes what this one left.
// One writer? Any number of takers; one claim is left. Name as identity? No: the claim is held by a handle, and a
// directory of the same name made later is not the same one.
func (d *Dir) Claim(ctx context.Context) (storage.Epoch, error) {
	names := numbers{dir: d.root, format: claimFormat}
	epoch, err := names.takeNext()
	if err != nil {
		return 0, fmt.Errorf("claim cluster directory: %w", err)
	}
	held, err := d.root.Hold(claimFormat.name(epoch))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, ErrFenced
	} else if err != nil {
		return 0, fmt.Errorf("hold claim on cluster directory: %w", err)
	}
	if err := evict(ctx, names, epoch); err != nil {
		_ = held.Close()
		return 0, fmt.Errorf("claim cluster directory: %w", err)
	}
	// A higher taker may have removed this claim since it was made; only a check after the last listing shows that it stands.
	if err := checkHeld(held); err != nil {
		_ = held.Close()
		return 0, fmt.Errorf("claim cluster directory: %w", err)
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.claim != nil {
		_ = d.claim.held.Close()
	}
	d.claim = &claim{epoch: storage.Epoch(epoch), held: held}
	return storage.Epoch(epoch), nil
}

// evict removes every lower claim until one's own is the only one and the highest, and gives way only to a higher one.
func evict(ctx context.Context, names numbers, own int64) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		taken, err := names.list()
		if err != nil {
			return err
		}
		lower := 0
		for _, number := range taken {
			if number > own {
				return ErrFenced
			}
			if number < own {
				lower++
				err := names.dir.Rmdir(names.format.name(number))
				if err != nil && !errors.Is(err, fs.ErrNotExist) {
					return fmt.Errorf("remove earlier claim: %w", err)
				}
			}
		}
		if lower == 0 {
			return nil
		}
		// The removal is what fences the earlier owner; a crash must not bring its claim back.
		if err := names.dir.Sync(); err != nil {
			return fmt.Errorf("sync removed claims: %w", err)
		}
	}
}

// CheckClaim returns nil while the claim stands, ErrFenced once another process has removed it. Any other error, ErrNotClaimed among
// them, means that it was not checked. It asks the file server and may take as long as that takes.
func (d *Dir) CheckClaim() error {
	d.mutex.Lock()
	current := d.claim
	d.mutex.Unlock()
	if current == nil {
		return ErrNotClaimed
	}
	return checkHeld(current.held)
}

func checkHeld(held vfs.Claim) error {
	err := held.Check()
	switch {
	case err == nil:
		return nil
	case errors.Is(err, vfs.ErrUnlinked):
		return ErrFenced
	default:
		return fmt.Errorf("check claim on cluster directory: %w", err)
	}
}

// Watch checks the claim about every second. It returns ErrFenced when another process has taken over, ErrNotClaimed without a claim,
// and nil when ctx ends. A check that could not be made is logged and made again: it says nothing about the claim.
func (d *Dir) Watch(ctx context.Context) error {
	ticker := time.NewTicker(d.interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		err := d.CheckClaim()
		if errors.Is(err, ErrFenced) || errors.Is(err, ErrNotClaimed) {
			return err
		}
		if err != nil {
			d.logger.Warn().Err(err).Msg("claim on the cluster directory could not be checked")
		}
	}
}
