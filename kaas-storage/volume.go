package storage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

const (
	stampName    = ".kaas-volume.json"
	stampVersion = 1
	reserveName  = ".kaas-reserve"
	// DefaultReserve is the size of the reserve file in bytes: enough for the claims and manifests of many takeovers.
	DefaultReserve = 16 << 20
	minMargin      = 256 << 10
)

// stamp is the identity of a volume, so that a wrong mount is noticed before anything is written to it.
type stamp struct {
	Version   int    `json:"version"`
	ClusterID string `json:"clusterId"`
	VolumeID  string `json:"volumeId"`
}

// VolumeOptions say what the caller expects of a volume.
type VolumeOptions struct {
	ClusterID string // must be the stamp's; written into an unstamped volume
	ID        string // likewise
	Reserve   int64  // bytes given up when the volume is full; 0 means no reserve
	Slots     int    // blocking file calls at a time; 0 means 64
	Relieve   bool   // drop closed segments early when little is free: for volumes in memory
}

// Volume is an opened file system root that holds partitions: its identity, its room, and the bound on concurrent calls to it.
// It is safe for concurrent use.
type Volume struct {
	fs      vfs.FS
	id      string
	reserve int64
	slots   chan struct{}
	lookups chan struct{}
	decodes chan struct{}
	full    atomic.Bool
	room    atomic.Int64 // bytes that may still be appended before the next look at the free space
	relieve bool

	fences     atomic.Bool // CheckFencing has succeeded
	refreshing atomic.Bool // the engine is looking at it
	toldFull   atomic.Bool // what the log said last
	mu         sync.Mutex  // of the reserve file
}

// defaultSlots bounds blocking calls of one volume, so that a hung one cannot use up the process's threads.
const defaultSlots = 64

const (
	// maxLookups bounds the searches by time of one volume, which must leave its slots to others.
	maxLookups = 4
	// maxDecodes bounds those of them that decompress a batch: a few kilobytes become batch.DefaultLimit.
	maxDecodes = 2
)

func newVolume(filesystem vfs.FS, id string, slots int) *Volume {
	if slots <= 0 {
		slots = defaultSlots
	}
	v := &Volume{fs: filesystem, id: id, slots: make(chan struct{}, slots), lookups: make(chan struct{}, maxLookups), decodes: make(chan struct{}, maxDecodes)}
	v.room.Store(math.MaxInt64 / 2)
	v.fences.Store(filesystem == nil)
	return v
}

// OpenVolume checks the identity of the volume at the root of filesystem, that its claims fence, and stamps an unstamped one.
// ErrForeignVolume means that it is another's, ErrFutureVersion that later software wrote the stamp, ErrNotFencing that no log is safe there.
func OpenVolume(filesystem vfs.FS, o VolumeOptions) (*Volume, error) {
	root, err := filesystem.OpenDir(".")
	if err != nil {
		return nil, &StorageError{Op: "open volume", Path: ".", Err: err}
	}
	defer root.Close()
	stamped, err := checkStamp(root, o)
	if err != nil {
		return nil, err
	}
	v := newVolume(filesystem, o.ID, o.Slots)
	v.reserve, v.relieve = o.Reserve, o.Relieve
	// On a full volume takeovers try it: they need a directory, too.
	if err := v.checkFencing(); err != nil && (errors.Is(err, ErrNotFencing) || !isFull(err)) {
		return nil, err
	}
	if !stamped {
		if err := writeStamp(root, o); err != nil {
			return nil, err
		}
	}
	if err := v.restoreReserve(); err != nil && !isFull(err) {
		return nil, &StorageError{Op: "write reserve file", Path: root.Path(), Err: err}
	}
	return v, v.Refresh()
}

// checkFencing tries it once for as long as the volume is open.
func (v *Volume) checkFencing() error {
	if v.fences.Load() {
		return nil
	}
	root, err := v.fs.OpenDir(".")
	if err != nil {
		return &StorageError{Op: "open volume", Path: ".", Err: err}
	}
	defer root.Close()
	if err := CheckFencing(root); err != nil {
		return err
	}
	v.fences.Store(true)
	return nil
}

// checkStamp compares the stamp, if there is one.
func checkStamp(root vfs.Dir, o VolumeOptions) (stamped bool, err error) {
	data, err := vfs.ReadFile(root, stampName, 1<<16)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, &StorageError{Op: "read volume stamp", Path: root.Path(), Err: err}
	}
	var s stamp
	if err := json.Unmarshal(data, &s); err != nil {
		return false, &CorruptionError{Dir: root.Path(), File: stampName, Offset: -1, Cause: err.Error()}
	}
	switch {
	case s.Version > stampVersion:
		return false, fmt.Errorf("%s/%s has version %d, this software knows up to %d: %w", root.Path(), stampName, s.Version, stampVersion, ErrFutureVersion)
	case s.ClusterID != o.ClusterID || s.VolumeID != o.ID:
		return false, fmt.Errorf("%s is stamped for cluster %s volume %s, expected %s %s: %w",
			root.Path(), s.ClusterID, s.VolumeID, o.ClusterID, o.ID, ErrForeignVolume)
	}
	return true, nil
}

// writeStamp makes the volume ours. Two first openers may both do it: rename is atomic, and both write the same cluster.
func writeStamp(root vfs.Dir, o VolumeOptions) error {
	data, err := json.Marshal(stamp{stampVersion, o.ClusterID, o.ID})
	if err != nil {
		return fmt.Errorf("encode volume stamp: %w", err)
	}
	if err := vfs.WriteFileAtomic(root, stampName, data); err != nil {
		return &StorageError{Op: "write volume stamp", Path: root.Path(), Err: err}
	}
	return nil
}

// FS returns the file system that the volume is the root of.
func (v *Volume) FS() vfs.FS { return v.fs }

// ID returns the volume's name in its cluster.
func (v *Volume) ID() string { return v.id }

// Full reports whether the volume has no room for appends. It is looked at anew by the engine's sweep.
func (v *Volume) Full() bool { return v.full.Load() }

// admit takes bytes of an append from the room that was left when the free space was last looked at. Stopping here, and not at the first failed
// write, keeps what is in flight from failing, and its partition's epoch from ending.
func (v *Volume) admit(size int64) bool {
	if v.full.Load() {
		return false
	}
	if v.room.Add(-size) >= 0 {
		return true
	}
	v.full.Store(true)
	return false
}

// spare takes bytes of that room for what can be done later. Unlike admit it leaves some to appends, and does not call the volume full: what it refuses
// is removed again.
func (v *Volume) spare(size int64) bool {
	if v.full.Load() || v.room.Load()-size < v.margin() {
		return false
	}
	v.room.Add(-size)
	return true
}

// enter waits for a slot for blocking calls; leave gives it back.
func (v *Volume) enter(ctx context.Context) error {
	select {
	case v.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (v *Volume) leave() { <-v.slots }

// enterLookup waits for a place among the searches by time; leave gives it back, also if it is called again.
func (v *Volume) enterLookup(ctx context.Context) (leave func(), err error) {
	return enterOne(ctx, v.lookups)
}

// enterDecode is enterLookup for a search that looks into a batch.
func (v *Volume) enterDecode(ctx context.Context) (leave func(), err error) {
	return enterOne(ctx, v.decodes)
}

func enterOne(ctx context.Context, places chan struct{}) (leave func(), err error) {
	select {
	case places <- struct{}{}:
		return sync.OnceFunc(func() { <-places }), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// isFull tells a full disk or an exhausted quota from other failures.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// noteFull marks the volume as full and gives its reserve up, so that claims and manifests can still be written.
func (v *Volume) noteFull() error {
	if v.fs == nil {
		return nil // stands for unknown volumes, whose free space nobody looks at
	}
	v.full.Store(true)
	v.mu.Lock()
	defer v.mu.Unlock()
	root, err := v.fs.OpenDir(".")
	if err != nil {
		return &StorageError{Op: "give up reserve", Path: ".", Err: err}
	}
	defer root.Close()
	if err := root.Remove(reserveName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &StorageError{Op: "give up reserve", Path: root.Path(), Err: err}
	}
	return nil
}

// Refresh looks at the free space: it marks a volume as full before a write has to fail, and opens it again, with its reserve
// restored, once there is room for both. The engine calls it about once a second.
func (v *Volume) Refresh() error {
	usage, err := v.fs.Usage()
	if err != nil {
		return &StorageError{Op: "measure free space", Path: ".", Err: err}
	}
	v.room.Store(max(usage.Free-v.margin(), 0))
	switch {
	case usage.Free < v.margin():
		return v.noteFull()
	case !v.full.Load():
		return nil
	case usage.Free < v.reopensAt():
		return nil
	}
	if err := v.restoreReserve(); err != nil {
		if isFull(err) {
			return v.noteFull()
		}
		return &StorageError{Op: "restore reserve", Path: ".", Err: err}
	}
	v.full.Store(false)
	return nil
}

// margin is the free space in bytes below which appends stop: what is in flight by then still fits.
func (v *Volume) margin() int64 { return max(v.reserve/2, minMargin) }

// reopensAt is the free space in bytes from which a full volume takes appends again: more than where they stop, so that it does not flap.
func (v *Volume) reopensAt() int64 { return v.reserve + 2*v.margin() }

// restoreReserve writes the reserve file anew. Nobody reads it; it may be torn, shared or missing without harm.
func (v *Volume) restoreReserve() error {
	if v.reserve <= 0 {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	root, err := v.fs.OpenDir(".")
	if err != nil {
		return err
	}
	defer root.Close()
	if entry, err := root.Stat(reserveName); err == nil && entry.Size >= v.reserve {
		return nil
	}
	if err := root.Remove(reserveName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return fillReserve(root, v.reserve)
}

// fillReserve writes real bytes: a sparse file would reserve nothing.
func fillReserve(root vfs.Dir, size int64) error {
	file, err := root.Create(reserveName)
	if err != nil {
		if errors.Is(err, fs.ErrExist) {
			return nil // another process on this volume is writing it
		}
		return err
	}
	defer file.Close()
	block := make([]byte, 1<<20)
	for at := int64(0); at < size; at += int64(len(block)) {
		if _, err := file.WriteAt(block[:min(int64(len(block)), size-at)], at); err != nil {
			return err
		}
	}
	return file.Sync()
}
