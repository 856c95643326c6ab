package broker

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/kaas-rs/kaas/kaas-broker/config"
	"github.com/kaas-rs/kaas/kaas-broker/internal/memory"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// fileSystems opens the file systems of data and cluster directory, and says where in the latter the cluster directory lies.
func (s *stores) fileSystems(o Options) (data, cluster vfs.FS, path string, err error) {
	wrap := o.WrapFS
	if wrap == nil {
		wrap = func(inner vfs.FS) vfs.FS { return inner }
	}
	inMemory := o.Memory
	if inMemory == nil && o.Config.Mode == config.ModeDev {
		inMemory = vfs.NewMem(memoryBudget(o.Config))
		s.closeable = append(s.closeable, inMemory)
	}
	if inMemory != nil {
		both := wrap(inMemory)
		return both, both, config.ClusterName, nil
	}
	if data, err = s.openDirectory(o.Config.DataDir, "data directory"); err != nil {
		return nil, nil, "", err
	}
	if cluster, err = s.openDirectory(o.Config.ClusterDir, "cluster directory"); err != nil {
		return nil, nil, "", err
	}
	return wrap(data), wrap(cluster), ".", nil
}

func (s *stores) openDirectory(path, what string) (vfs.FS, error) {
	if err := makeDirectory(path); err != nil {
		return nil, fmt.Errorf("make %s %s: %w", what, path, err)
	}
	opened, err := vfs.OS(path)
	if err != nil {
		return nil, fmt.Errorf("open %s %s: %w", what, path, err)
	}
	s.closeable = append(s.closeable, opened)
	return opened, nil
}

// makeDirectory makes a directory and what is missing above it, durably: what is acknowledged in it must not depend on a name that a crash takes away.
func makeDirectory(path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	existing := path
	for {
		_, err := os.Stat(existing)
		if err == nil {
			break
		}
		if above := filepath.Dir(existing); errors.Is(err, fs.ErrNotExist) && above != existing {
			existing = above
			continue
		}
		return err
	}
	missing, err := filepath.Rel(existing, path)
	if err != nil || missing == "." {
		return err
	}
	parent, err := vfs.OS(existing)
	if err != nil {
		return err
	}
	return errors.Join(parent.MkdirAll(filepath.ToSlash(missing)), parent.Close())
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
	if total := memory.Limit(); total > 0 {
		return min(total/4, maxMemory)
	}
	return fallbackMemory
}
