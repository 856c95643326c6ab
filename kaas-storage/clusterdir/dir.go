package clusterdir

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

const (
	floorName    = "epoch_floor"
	producerName = "producer_ids"
)

// Options are the choices of whoever opens a cluster directory. The zero value is usable.
type Options struct {
	// Path of the cluster directory below the file system's root; empty means the root itself. Missing levels are made.
	Path string
	// ClusterID is the id that the directory must have, and gets if it has none yet; empty takes what is there or makes one.
	ClusterID string
	// CheckInterval is the time between two checks of Watch; 0 means one second.
	CheckInterval time.Duration
	// Logger hears of checks that could not be made and of leftovers that could not be removed.
	Logger zerolog.Logger
}

// Dir is an opened cluster directory.
type Dir struct {
	fs        vfs.FS
	root      vfs.Dir
	floor     numbers
	producers numbers
	clusterID string
	interval  time.Duration
	logger    zerolog.Logger

	mutex sync.Mutex
	claim *claim // nil until Claim succeeds
}

// Open opens the cluster directory in fs, making it when it does not exist. The cluster id is made by whoever opens a new
// directory first. An error wraps storage.ErrFutureVersion, ErrFormat or ErrForeignCluster when the directory is not one to
// be used. The file system stays the caller's to close.
//
// Atomic? No: directories, then the id. Idempotent? Yes, each step is found done. One writer? Not needed: making a directory
// twice is making it once, and the id is created exclusively. Name as identity? The id in the file is the identity.
func Open(ctx context.Context, fs vfs.FS, o Options) (*Dir, error) {
	if o.Path == "" {
		o.Path = "."
	}
	if o.CheckInterval <= 0 {
		o.CheckInterval = time.Second
	}
	d := &Dir{fs: fs, interval: o.CheckInterval, logger: o.Logger}
	if err := d.open(ctx, o); err != nil {
		_ = d.Close()
		return nil, fmt.Errorf("open: %w", err) // callers know the path of a directory that may be a root here
	}
	return d, nil
}

func (d *Dir) open(ctx context.Context, o Options) error {
	var err error
	if d.root, err = openMade(d.fs, o.Path); err != nil {
		return err
	}
	// The version is checked before anything else is made in a directory that may be of a later format.
	if d.clusterID, err = clusterIdentity(ctx, d.root, o.ClusterID); err != nil {
		return err
	}
	if d.floor.dir, err = openMade(d.fs, join(o.Path, floorName)); err != nil {
		return err
	}
	d.floor.format = epochFormat
	if d.producers.dir, err = openMade(d.fs, join(o.Path, producerName)); err != nil {
		return err
	}
	d.producers.format = blockFormat
	return nil
}

// ClusterID is the cluster's id: 22 characters, a UUID in URL-safe base64 without padding, as Kafka's.
func (d *Dir) ClusterID() string { return d.clusterID }

// Root is the opened directory itself, for others who keep files in it. It is closed by Close.
func (d *Dir) Root() vfs.Dir { return d.root }

// Close releases all handles. The claim's name stays: the highest epoch of a directory never disappears, and the next
// process takes a higher one.
func (d *Dir) Close() error {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	var first error
	if d.claim != nil {
		first = d.claim.held.Close()
		d.claim = nil
	}
	for _, dir := range []vfs.Dir{d.producers.dir, d.floor.dir, d.root} {
		if dir == nil {
			continue
		}
		if err := dir.Close(); err != nil && first == nil {
			first = err
		}
	}
	return first
}

func openMade(fs vfs.FS, path string) (vfs.Dir, error) {
	if err := fs.MkdirAll(path); err != nil {
		return nil, fmt.Errorf("make directory: %w", err)
	}
	dir, err := fs.OpenDir(path)
	if err != nil {
		return nil, fmt.Errorf("open directory: %w", err)
	}
	return dir, nil
}

func join(parent, name string) string {
	if parent == "." {
		return name
	}
	return parent + "/" + name
}
