package topicdir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	storage "github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// Create makes the directories of the partitions from on, with first manifests that carry the epoch floor, and whatever of the levels
// above is missing. When it returns nil everything is durable, and the caller may record the number of partitions.
//
// Atomic? No: many directories. Idempotent? Yes; what is there is kept, so an interrupted call is simply made again. One writer? Two
// callers make the same thing: a first manifest is empty, and its epoch is below every leader's. Name as identity? The topic's
// id is in the path.
func Create(ctx context.Context, v *storage.Volume, t Topic, from int32, floor storage.Epoch) error {
	if err := create(ctx, v, t, from, floor); err != nil {
		return fmt.Errorf("create directories of topic %s: %w", t.Name, err)
	}
	return nil
}

func create(ctx context.Context, v *storage.Volume, t Topic, from int32, floor storage.Epoch) error {
	dir, err := makeTopic(v.FS(), t)
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }()
	for partition := max(from, 0); partition < t.Partitions; partition++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := dir.Mkdir(partitionName(partition)); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	// One sync for all names, and before the first manifests: a partition whose name is durable may be empty, not the other way round.
	if err := dir.Sync(); err != nil {
		return err
	}
	for partition := max(from, 0); partition < t.Partitions; partition++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := initPartition(dir, partition, floor); err != nil {
			return err
		}
	}
	return nil
}

// makeAttempts is how often the directory of a topic is made anew when it has vanished: the deletion of another topic of that name removes the
// directory that both are in when nothing is left there, maybe just before the id's is made.
const makeAttempts = 10

func makeTopic(files vfs.FS, t Topic) (vfs.Dir, error) {
	for attempt := 1; ; attempt++ {
		err := files.MkdirAll(t.path())
		if err == nil {
			return files.OpenDir(t.path())
		}
		vanished := errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESTALE)
		if !vanished || attempt == makeAttempts {
			return nil, err
		}
	}
}

func initPartition(topic vfs.Dir, partition int32, floor storage.Epoch) error {
	dir, err := topic.OpenDir(partitionName(partition))
	if err != nil {
		return err
	}
	err = storage.InitPartition(dir, floor)
	return errors.Join(err, dir.Close())
}
