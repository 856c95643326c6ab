package broker

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/rs/zerolog"

	"github.com/kaas-rs/kaas/kaas-broker/config"
	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/clusterdir"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// volumeID names the one volume of a broker without a volume pool.
const volumeID = "default"

// stores are the places where a broker keeps things: topics on a volume, everything else in the cluster directory.
type stores struct {
	volume    *storage.Volume
	cluster   *clusterdir.Dir
	memory    *vfs.Mem // dev mode only
	closeable []vfs.FS
}

// openStores opens, and in single mode claims, both places. The cluster directory is claimed before anything else is touched, so that of two processes
// started on one directory the first is fenced as a whole, before it loses single partitions.
func openStores(ctx context.Context, c *config.Config, wrap func(vfs.FS) vfs.FS, logger zerolog.Logger) (*stores, error) {
	s := &stores{}
	data, cluster, path, err := s.fileSystems(c, wrap)
	if err == nil {
		s.cluster, err = clusterdir.Open(ctx, cluster, clusterdir.Options{Path: path, Logger: logger})
	}
	if err == nil && c.Mode == config.ModeSingle {
		_, err = s.cluster.Claim(ctx)
	}
	if err == nil {
		options := storage.VolumeOptions{ClusterID: s.cluster.ClusterID(), ID: volumeID, Reserve: c.Storage.ReserveBytes}
		if c.Mode == config.ModeDev {
			options.Reserve, options.Relieve = 0, true // a reserve would only take memory
		}
		s.volume, err = storage.OpenVolume(data, options)
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// fileSystems opens the file systems of data and cluster directory, and says where in the latter the cluster directory lies.
func (s *stores) fileSystems(c *config.Config, wrap func(vfs.FS) vfs.FS) (data, cluster vfs.FS, path string, err error) {
	if wrap == nil {
		wrap = func(fs vfs.FS) vfs.FS { return fs }
	}
	if c.Mode == config.ModeDev {
		s.memory = vfs.NewMem(memoryBudget(c))
		fs := wrap(s.memory)
		s.closeable = append(s.closeable, fs)
		return fs, fs, clusterPath, nil
	}
	if data, err = s.openDirectory(c.DataDir, "data directory"); err != nil {
		return nil, nil, "", err
	}
	if cluster, err = s.openDirectory(c.ClusterDir, "cluster directory"); err != nil {
		return nil, nil, "", err
	}
	return wrap(data), wrap(cluster), ".", nil
}

// clusterPath is the cluster directory inside the data directory; no topic's directory can have this name.
const clusterPath = "__cluster"

func (s *stores) openDirectory(path, what string) (vfs.FS, error) {
	if err := os.MkdirAll(path, 0o750); err != nil {
		return nil, fmt.Errorf("make %s: %w", what, err)
	}
	fs, err := vfs.OS(path)
	if err != nil {
		return nil, fmt.Errorf("open %s %s: %w", what, path, err)
	}
	s.closeable = append(s.closeable, fs)
	return fs, nil
}

// Bounds of dev mode's memory: a quarter of the machine's, at most 1 GiB.
const (
	maxMemory      = 1 << 30
	fallbackMemory = 256 << 20
)

func memoryBudget(c *config.Config) int64 {
	if c.Storage.MemoryBytes > 0 {
		return c.Storage.MemoryBytes
	}
	if total := machineMemory(); total > 0 {
		return min(total/4, maxMemory)
	}
	return fallbackMemory
}

func (s *stores) close() error {
	var errs []error
	if s.cluster != nil {
		errs = append(errs, s.cluster.Close())
	}
	for _, fs := range s.closeable {
		errs = append(errs, fs.Close())
	}
	return errors.Join(errs...)
}
