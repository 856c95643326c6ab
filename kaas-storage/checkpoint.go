package storage

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"
)

// checkpointBytes is how much is appended before the recovery point moves, at least; it bounds what a takeover scans and copies. A checkpoint makes four
// calls that wait for the disk's journal, as many as eight commits of 2 MiB: half as much would cost twice the share of a busy log.
const checkpointBytes = 16 << 20

// frozen is the state of a partition at one log end, taken under one lock.
type frozen struct {
	end       int64
	own       ownEnd
	segments  []*segment
	producers []producer
	epochs    leaderEpochs
	dirty     int64
}

func (p *Partition) freeze() frozen {
	now := p.engine.options.Clock.Now().UnixMilli()
	p.mu.Lock()
	defer p.mu.Unlock()
	age := p.Config().ProducerExpiry
	p.transactions.forget(p.producers.expire(now, age.Milliseconds()))
	maps.DeleteFunc(p.unverified, func(_ int64, u unverified) bool { return time.Since(u.at) >= age })
	for _, s := range *p.segments.Load() {
		if p.grows(s) {
			s.index.mark() // here, where nothing is appended: an append above the log end may be newer and hide what is below
		}
	}
	return frozen{
		end:       p.logEnd.Load(),
		own:       p.lastOwn,
		segments:  *p.segments.Load(),
		producers: p.producers.snapshot(),
		epochs:    slices.Clone(p.epochs),
		dirty:     p.dirty.bytes,
	}
}

// grows: the files may lack index entries below the log end. Those of closed segments and of compaction do not. The caller holds maintenance.
func (p *Partition) grows(s *segment) bool {
	return s.epoch == p.claim.epoch && s.base >= p.manifest.RecoverySegment && !s.compacted()
}

// checkpointIfDueLocked starts a checkpoint off the commit path when enough was appended.
func (p *Partition) checkpointIfDueLocked() {
	if p.dirty.bytes >= p.dirty.limit {
		p.startCheckpointLocked()
	}
}

func (p *Partition) startCheckpointLocked() {
	if p.dirty.checkpointed || p.err != nil || p.handover {
		return
	}
	p.dirty.checkpointed = true
	p.work.Go(func() {
		if p.lockMaintenance(p.engine.ctx) == nil {
			_ = p.checkpoint(p.engine.ctx, func(*manifest) {}) // an error has ended the leadership, which reports it
			p.unlockMaintenance()
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.dirty.checkpointed = false
	})
}

// checkpoint moves the recovery point to the log end as it is now, and writes the manifest with a change of the caller's. The order:
//
//  1. freeze the state at the log end;
//  2. wait until everything below it is synced and checked: a recovery point beyond that would hide a torn tail from the scan;
//  3. write and sync the index entries below it: a taker does not look at the log below the point again;
//  4. write the manifest under one's own epoch, synced with its name;
//  5. check the claim: only then may the caller rely on the change, remove files, or answer.
//
// The caller holds maintenance. The end of ctx ends the wait of step 2 and nothing else: an error after it means that the change may or
// may not be on disk, and ends the epoch.
func (p *Partition) checkpoint(ctx context.Context, change func(*manifest)) error {
	state := p.freeze()
	if err := p.syncTo(ctx, state.end); err != nil {
		return err
	}
	if err := p.persist(state, change); err != nil {
		p.fail(err)
		return err
	}
	return nil
}

func (p *Partition) persist(state frozen, change func(*manifest)) error {
	watch := newWatchdog(p.engine.options.IODeadline, func() {
		p.fail(fmt.Errorf("checkpoint of %s: %w", p.label, ErrStalled))
	})
	defer watch.end()
	if err := p.enterVolume(); err != nil {
		return err
	}
	defer p.volume.leave()
	if err := p.persistIndexes(watch, state); err != nil {
		return err
	}
	m := p.nextManifest(state)
	change(m)
	m.LeaderEpochs = m.LeaderEpochs.trim(m.LogStart)
	m.pruneFiles()
	watch.begin()
	size, err := m.write(p.dir)
	if err != nil {
		return err
	}
	watch.begin()
	began := time.Now()
	if err := p.claim.check(); err != nil {
		return err
	}
	p.checks.succeeded(began)
	p.checkpointed(m, state, size)
	return nil
}

func (p *Partition) persistIndexes(watch *watchdog, state frozen) error {
	madeAny := false
	for _, s := range state.segments {
		if !p.grows(s) || s.base >= state.end {
			continue
		}
		watch.begin()
		made, err := s.persistIndexes(state.end)
		if err != nil {
			return err
		}
		madeAny = madeAny || made
	}
	if !madeAny {
		return nil
	}
	watch.begin()
	if err := p.dir.Sync(); err != nil {
		return &StorageError{Op: "sync directory", Path: p.dir.Path(), Err: err}
	}
	return nil
}

func (p *Partition) nextManifest(state frozen) *manifest {
	m := *p.manifest
	m.Chain = slices.Clone(p.manifest.Chain)
	m.RecoveryPoint = state.end
	m.LeaderEpochs = state.epochs
	m.Producers = state.producers
	if s := state.own.segment; s != nil {
		m.RecoverySegment = s.base
		m.Recovery = s.index.counts()
		m.Recovery.ValidBytes = state.own.size
		m.Recovery.AbortedEntries = s.aborted.count()
	}
	return &m
}

func (p *Partition) checkpointed(m *manifest, state frozen, size int) {
	p.manifest = m
	p.mu.Lock()
	defer p.mu.Unlock()
	p.epochs = p.epochs.trim(m.LogStart)
	p.dirty.bytes -= state.dirty
	p.dirty.limit = max(checkpointBytes, 4*int64(size))
}

// housekeep is called about once a second. It takes no time itself.
func (p *Partition) housekeep(retain bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil || p.handover {
		return
	}
	idle := time.Since(p.dirty.last) >= p.engine.options.IdleAfter
	if idle && p.dirty.bytes > 0 {
		p.startCheckpointLocked()
	}
	// A file, or the directory, that was changed stays open until its sync has returned: a handle that is opened later may not be told what was lost.
	settled := idle && !p.committing && len(p.unsynced.segments) == 0
	quiet := *p.segments.Load()
	if !settled && len(quiet) > 0 && quiet[len(quiet)-1] == p.active {
		quiet = quiet[:len(quiet)-1]
	}
	if directory := settled && p.dir.opened.Load(); !p.tidying && (directory || anyOpen(quiet)) {
		p.tidying = true
		p.work.Go(func() { p.closeIdle(quiet, directory) })
	}
	if retain && !p.retaining {
		p.retaining = true
		p.work.Go(p.retain)
	}
}

// settleOn moves the recovery point to the log end when the volume is full: a takeover then has no tail to copy, for which there might be no room.
func (p *Partition) settleOn(v *Volume) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.volume == v && p.dirty.bytes > 0 {
		p.startCheckpointLocked()
	}
}

func anyOpen(segments []*segment) bool {
	for _, s := range segments {
		for _, file := range s.files() {
			if file.opened.Load() {
				return true
			}
		}
	}
	return false
}

// closeIdle closes what nobody has used since the last time. Closing may wait for the file server, so no lock of the partition is held.
func (p *Partition) closeIdle(segments []*segment, directory bool) {
	for _, s := range segments {
		for _, file := range s.files() {
			file.closeIdle()
		}
	}
	if directory {
		p.dir.closeIdle()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tidying = false
}
