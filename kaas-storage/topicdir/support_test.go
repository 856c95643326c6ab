package topicdir_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/uuid"

	storage "github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/topicdir"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

var (
	firstID  = uuid.MustParse("6b1f0c6e-3d0b-4f0c-9d2a-0d5f8f2f7a01")
	secondID = uuid.MustParse("6b1f0c6e-3d0b-4f0c-9d2a-0d5f8f2f7a02")
)

// errCrash is what every operation of a dead process gives.
var errCrash = errors.New("the process is dead")

func volume(t *testing.T, fs vfs.FS) *storage.Volume {
	t.Helper()
	v, err := storage.OpenVolume(fs, storage.VolumeOptions{ClusterID: "cluster", ID: "volume"})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// dyingVolume opens the volume in fs and lets its process work until its nth change, counted from 1, which is not made, nor anything after it.
func dyingVolume(t *testing.T, fs vfs.FS, n int) *storage.Volume {
	t.Helper()
	changes, opened := 0, false
	dying := vfs.NewFault(fs, func(op vfs.Op) error {
		if op.After || !opened {
			return nil
		}
		if op.Kind.Mutating() {
			changes++
		}
		if changes >= n {
			return errCrash
		}
		return nil
	})
	v := volume(t, dying)
	opened = true
	return v
}

// take opens a partition as its leader and returns the epoch that this took.
func take(t *testing.T, v *storage.Volume, topic topicdir.Topic, partition int32) (storage.Epoch, error) {
	t.Helper()
	engine, err := storage.NewEngine(storage.Options{RetentionInterval: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	dir, err := topicdir.OpenPartition(v, topic, partition)
	if err != nil {
		return storage.NoEpoch, err
	}
	p, err := engine.Take(t.Context(), dir, storage.TakeOptions{Volume: v, Config: storage.DefaultConfig()})
	if err != nil {
		return storage.NoEpoch, err
	}
	defer p.Abandon()
	return p.Epoch(), nil
}

func create(t *testing.T, v *storage.Volume, topic topicdir.Topic, from int32, floor storage.Epoch) {
	t.Helper()
	if err := topicdir.Create(t.Context(), v, topic, from, floor); err != nil {
		t.Fatal(err)
	}
}

func names(t *testing.T, fs vfs.FS, path string) []string {
	t.Helper()
	dir, err := fs.OpenDir(path)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	entries, err := dir.List()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, entry := range entries {
		all = append(all, entry.Name)
	}
	return all
}

func noFloor(storage.Epoch) error { return nil }

func remove(ctx context.Context, v *storage.Volume, topic topicdir.Topic) error {
	return topicdir.Delete(ctx, v, topic, noFloor)
}
