package broker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/kaas-rs/kaas/kaas-broker/config"
	"github.com/kaas-rs/kaas/kaas-coordinator/slot"
	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/clusterdir"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// volumeID names the one volume of a broker without a volume pool, clusterVolumeID a cluster directory that lies beside it.
const (
	volumeID        = "default"
	clusterVolumeID = "cluster"
)

// stores are the places where a broker keeps things: topics on a volume, everything else in the cluster directory.
type stores struct {
	volume    *storage.Volume
	cluster   *clusterdir.Dir
	slots     vfs.Dir // of the coordinator, in the cluster directory
	slotCount int
	slotsOn   *storage.Volume // where that lies: volume, or one of its own with its own room and calls
	closeable []vfs.FS
}

// openStores opens, and in single mode claims, both places. The cluster directory is claimed before anything else is touched, so that of two processes
// started on one directory the first is fenced as a whole, before it loses single partitions.
func openStores(ctx context.Context, o Options) (*stores, error) {
	s := &stores{}
	if err := s.open(ctx, o); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *stores) open(ctx context.Context, o Options) error {
	c := o.Config
	data, cluster, path, err := s.fileSystems(o)
	if err != nil {
		return err
	}
	if s.cluster, err = clusterdir.Open(ctx, cluster, clusterdir.Options{Path: path, Logger: o.Logger}); err != nil {
		return fmt.Errorf("cluster directory %s: %w", c.ClusterDir, err)
	}
	if err := storage.CheckFencing(s.cluster.Root()); err != nil {
		return fmt.Errorf("cluster directory %s: %w", c.ClusterDir, err)
	}
	if c.Mode == config.ModeSingle {
		if err := s.claim(ctx); err != nil {
			return fmt.Errorf("cluster directory %s: %w", c.ClusterDir, err)
		}
	}
	options := storage.VolumeOptions{ClusterID: s.cluster.ClusterID(), ID: volumeID, Reserve: c.Storage.ReserveBytes}
	if c.Mode == config.ModeDev {
		options.Reserve, options.Relieve = 0, true // a reserve would only take memory
	}
	if s.volume, err = storage.OpenVolume(data, options); err != nil {
		return fmt.Errorf("data directory %s: %w", c.DataDir, err)
	}
	s.slotsOn = s.volume
	if liesApart(c) {
		options.ID = clusterVolumeID
		if s.slotsOn, err = storage.OpenVolume(cluster, options); err != nil {
			return fmt.Errorf("cluster directory %s: %w", c.ClusterDir, err)
		}
	}
	if err := s.openSlots(); err != nil {
		return fmt.Errorf("cluster directory %s: %w", c.ClusterDir, err)
	}
	return nil
}

// liesApart reports whether the cluster directory is outside of the data directory, and so, for all that is known, on another volume.
func liesApart(c *config.Config) bool {
	if c.Mode != config.ModeSingle || c.ClusterDir == "" {
		return false
	}
	inside, err := filepath.Rel(c.DataDir, c.ClusterDir)
	return err != nil || !filepath.IsLocal(inside)
}

// isFull reports whether a volume has no room for appends.
func (s *stores) isFull() bool { return s.volume.Full() || s.slotsOn.Full() }

// slotsName is the directory of the coordinator's slots in the cluster directory.
const slotsName = "__coordinator"

// openSlots opens the coordinator's directory, making it and its slots at the first start. A directory that exists keeps the number that it was made
// with.
func (s *stores) openSlots() error {
	root := s.cluster.Root()
	if err := root.Mkdir(slotsName); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make directory %s: %w", slotsName, err)
	}
	if err := root.Sync(); err != nil {
		return fmt.Errorf("sync: %w", err)
	}
	var err error
	if s.slots, err = root.OpenDir(slotsName); err != nil {
		return fmt.Errorf("open directory %s: %w", slotsName, err)
	}
	floor, err := s.cluster.EpochFloor()
	if err != nil {
		return fmt.Errorf("epoch floor: %w", err)
	}
	s.slotCount, err = slot.EnsureSlots(s.slots, slot.DefaultCount, floor)
	return err
}

func (s *stores) claim(ctx context.Context) error {
	_, err := s.cluster.Claim(ctx)
	if errors.Is(err, clusterdir.ErrFenced) {
		return fmt.Errorf("%w: %w", ErrFenced, err)
	}
	return err
}

func (s *stores) close() error {
	var errs []error
	if s.slots != nil {
		errs = append(errs, s.slots.Close())
	}
	if s.cluster != nil {
		errs = append(errs, s.cluster.Close())
	}
	for _, fs := range s.closeable {
		errs = append(errs, fs.Close())
	}
	return errors.Join(errs...)
}
