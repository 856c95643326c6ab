package topicdir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strings"
	"syscall"
	"time"

	storage "github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// ErrLeftovers is returned when something that is not ours, or that another process still has open, lies in a topic's directory and keeps it
// from being removed. The topic's data is gone; Delete called again later may finish.
var ErrLeftovers = errors.New("topic directory is not empty")

// epochMargin covers takers that claim higher epochs between the reading of the highest one and the end of the partition.
const epochMargin = 8

// HighestEpoch is the highest leader epoch that any partition of the topic has had, storage.NoEpoch if the topic has no directories.
func HighestEpoch(ctx context.Context, v *storage.Volume, t Topic) (storage.Epoch, error) {
	dir, err := v.FS().OpenDir(t.path())
	if isMissing(err) {
		return storage.NoEpoch, nil
	}
	if err != nil {
		return storage.NoEpoch, fmt.Errorf("read epochs of topic %s: %w", t.Name, err)
	}
	defer func() { _ = dir.Close() }()
	partitions, err := listPartitions(dir)
	if err != nil {
		return storage.NoEpoch, fmt.Errorf("read epochs of topic %s: %w", t.Name, err)
	}
	highest, err := highestEpoch(ctx, dir, partitions)
	if err != nil {
		return storage.NoEpoch, fmt.Errorf("read epochs of topic %s: %w", t.Name, err)
	}
	return highest, nil
}

// FloorAfter is the epoch floor that a topic made later needs, so that its leaders start above highest.
func FloorAfter(highest storage.Epoch) storage.Epoch {
	if highest > math.MaxInt32-epochMargin {
		return math.MaxInt32
	}
	return highest + epochMargin
}

// Delete removes all of a topic. raise is called first, with the epoch floor that must be durable before the traces of the topic's
// epochs disappear; it is not called when there are none left. The owners of the partitions are fenced; one that wants no error from that abandons
// its partitions before.
//
// Atomic? No. Idempotent? Yes, anyone may finish it. One writer? Each partition is ended by a claim that no leader can outbid.
// Name as identity? The topic's id is in the path.
func Delete(ctx context.Context, v *storage.Volume, t Topic, raise func(storage.Epoch) error) error {
	if err := deletePartitions(ctx, v, t, raise); err != nil {
		return fmt.Errorf("delete topic %s: %w", t.Name, err)
	}
	if err := deleteLevels(v, t); err != nil {
		return fmt.Errorf("delete topic %s: %w", t.Name, err)
	}
	return nil
}

func deletePartitions(ctx context.Context, v *storage.Volume, t Topic, raise func(storage.Epoch) error) error {
	dir, err := v.FS().OpenDir(t.path())
	if isMissing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }()
	partitions, err := listPartitions(dir)
	if err != nil {
		return err
	}
	highest, err := highestEpoch(ctx, dir, partitions)
	if err != nil {
		return err
	}
	if highest > storage.NoEpoch {
		if err := raise(FloorAfter(highest)); err != nil {
			return err
		}
	}
	for _, partition := range partitions {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := destroyPartition(ctx, dir, partition); err != nil {
			return err
		}
	}
	return removeFiles(dir)
}

// destroyPatience is how long a partition's directory may go on filling while it is emptied. It does not cut a removal short, which may
// take long, but the trying again after it: somebody's open file on NFS, or a directory that is not ours, comes back or stays.
const destroyPatience = time.Second

func destroyPartition(ctx context.Context, topic vfs.Dir, partition int32) error {
	limited, cancel := context.WithTimeout(ctx, destroyPatience)
	defer cancel()
	err := storage.DestroyPartition(limited, topic, partitionName(partition))
	if errors.Is(err, vfs.ErrNotEmpty) {
		return fmt.Errorf("%w: %s/%d", ErrLeftovers, topic.Path(), partition)
	}
	return err
}

// removeFiles removes the configuration and what interrupted writes of it left.
func removeFiles(dir vfs.Dir) error {
	entries, err := dir.List()
	if err != nil {
		return err
	}
	for _, entry := range entries {
		ours := entry.Name == configName ||
			strings.HasPrefix(entry.Name, "."+configName+".") && strings.HasSuffix(entry.Name, ".tmp")
		if !ours || entry.IsDir {
			continue
		}
		if err := dir.Remove(entry.Name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return dir.Sync()
}

// deleteLevels removes the directory of the id and, when no other topic has or had the name, that of the name.
func deleteLevels(v *storage.Volume, t Topic) error {
	named, err := v.FS().OpenDir(t.parent())
	if isMissing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = named.Close() }()
	if err := removeLevel(named, t.ID.String()); err != nil {
		return err
	}
	root, err := v.FS().OpenDir(".")
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	if err := removeLevel(root, t.parent()); err != nil && !errors.Is(err, ErrLeftovers) {
		return err
	}
	return nil
}

func removeLevel(parent vfs.Dir, name string) error {
	err := parent.Rmdir(name)
	switch {
	case errors.Is(err, vfs.ErrNotEmpty), errors.Is(err, syscall.EEXIST):
		return fmt.Errorf("%w: %s/%s", ErrLeftovers, parent.Path(), name)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	// Also when it was gone: whoever removed it may not have come to syncing that.
	if err := parent.Sync(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func listPartitions(dir vfs.Dir) ([]int32, error) {
	entries, err := dir.List()
	if err != nil {
		return nil, err
	}
	var partitions []int32
	for _, entry := range entries {
		if partition, ok := parsePartition(entry.Name); ok && entry.IsDir {
			partitions = append(partitions, partition)
		}
	}
	return partitions, nil
}

func highestEpoch(ctx context.Context, topic vfs.Dir, partitions []int32) (storage.Epoch, error) {
	highest := storage.NoEpoch
	for _, partition := range partitions {
		if err := ctx.Err(); err != nil {
			return storage.NoEpoch, err
		}
		dir, err := topic.OpenDir(partitionName(partition))
		if isMissing(err) {
			continue
		}
		if err != nil {
			return storage.NoEpoch, err
		}
		epoch, err := storage.HighestEpoch(dir)
		_ = dir.Close()
		if isMissing(err) || errors.Is(err, storage.ErrDeleted) {
			continue // somebody else has just finished it
		}
		if err != nil {
			return storage.NoEpoch, err
		}
		highest = max(highest, epoch)
	}
	return highest, nil
}

func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
