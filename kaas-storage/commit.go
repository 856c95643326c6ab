package storage

import (
	"context"
	"slices"
	"time"
)

// maxGroup bounds the bytes of one vectored write, so that the first waiter of a group is not kept by an endless queue.
const maxGroup = 4 << 20

// unsynced is what was written and not synced: a few milliseconds' worth with FlushMessages 1, at most a second's otherwise.
type unsynced struct {
	segments  []*segment // oldest first
	directory bool       // a new segment's name
	bytes     int64
	records   int64
	due       bool // the longest delay has passed
	timer     *time.Timer
}

// clear keeps the room of the list, which every commit fills again.
func (u *unsynced) clear() {
	clear(u.segments)
	*u = unsynced{segments: u.segments[:0]}
}

// syncWait is somebody who needs everything below offset synced and checked, whatever FlushMessages says.
type syncWait struct {
	offset int64
	done   chan error // of capacity 1
}

// openGroupLocked returns the group that takes the next append to s.
func (p *Partition) openGroupLocked(s *segment, size int64) *commitGroup {
	if n := len(p.groups); n > 0 {
		g := p.groups[n-1]
		if !g.started && g.segment == s && g.bytes+size <= maxGroup {
			return g
		}
	}
	g := newCommitGroup(s)
	p.groups = append(p.groups, g)
	return g
}

func (p *Partition) startCommitterLocked() {
	if p.committing || p.err != nil {
		return
	}
	p.committing = true
	p.work.Add(1)
	go p.committer()
}

// commitQueued is the committer: it lives while there is work, one at a time.
func (p *Partition) commitQueued() {
	defer p.commitWatch.end()
	for {
		g, sync, more := p.nextCommit()
		if !more {
			return
		}
		began := time.Now()
		if err := p.commit(&p.commitWatch, g, sync); err != nil {
			p.fail(err)
			return
		}
		if g != nil {
			p.engine.metrics.commit(p.engine.ctx, time.Since(began), g.bytes)
		}
	}
}

// nextCommit takes the oldest group and decides whether a sync follows its write. g is nil when only a sync is due.
func (p *Partition) nextCommit() (g *commitGroup, sync, more bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return nil, false, false
	}
	if len(p.groups) > 0 {
		g = p.groups[0]
		g.started = true
		p.unsynced.bytes += g.bytes
		p.unsynced.records += g.records
	}
	sync = p.syncDueLocked(g)
	if g == nil && !sync {
		p.committing = false
		return nil, false, false
	}
	return g, sync, true
}

func (p *Partition) syncDueLocked(g *commitGroup) bool {
	if g == nil && len(p.unsynced.segments) == 0 {
		return false
	}
	flush := p.config.Load().FlushMessages
	if g != nil && (flush <= 1 || g.sync) {
		return true
	}
	return p.unsynced.due || len(p.syncWaits) > 0 ||
		p.unsynced.records >= flush || p.unsynced.bytes >= maxUnsynced || len(p.unsynced.segments) >= maxUnsyncedSegments
}

// commit takes one group to the disk. The order is the promise: written, synced with everything before it, checked,
// and only then published and acknowledged.
func (p *Partition) commit(watch *watchdog, g *commitGroup, sync bool) error {
	watch.begin()
	if err := p.enterVolume(); err != nil {
		return err
	}
	defer p.volume.leave()
	if g != nil {
		if err := p.writeGroup(watch, g); err != nil {
			return err
		}
	}
	if !sync {
		p.publishWritten(g)
		watch.end()
		return nil
	}
	if err := p.syncWritten(watch); err != nil {
		return err
	}
	watch.begin()
	began := time.Now()
	if err := p.claim.check(); err != nil {
		return err
	}
	watch.end()
	p.checks.succeeded(began)
	p.publishSynced(g)
	return nil
}

// enterVolume waits for a slot; the watchdog ends the wait by ending the leadership.
func (p *Partition) enterVolume() error {
	select {
	case p.volume.slots <- struct{}{}:
		return nil
	case <-p.ended:
		return ErrClosed
	}
}

// writeGroup writes at the segment's end. The position was never written before: it was assigned under the mutex, and a failed write
// ends the epoch. A new file is made here, by exclusive creation, not at the roll: a segment without a batch has no file.
func (p *Partition) writeGroup(watch *watchdog, g *commitGroup) error {
	if err := p.leaveSegment(watch, g.segment); err != nil {
		return err
	}
	made := g.segment.log.missing()
	file, err := g.segment.log.acquire()
	if err != nil {
		return g.segment.fail("open segment", err)
	}
	defer g.segment.log.release()
	watch.begin()
	config := p.config.Load()
	g.segment.preallocate(file, g.position, g.bytes, config.SegmentBytes)
	if _, err := file.WriteVec(g.buffers, g.position); err != nil {
		return g.segment.fail("write", err)
	}
	g.segment.written = g.position + g.bytes
	if config.FlushMessages <= 1 {
		g.segment.extend(file, g.bytes, config.SegmentBytes)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	g.forget()
	g.written.reach(nil)
	p.unsynced.directory = p.unsynced.directory || made
	if n := len(p.unsynced.segments); n == 0 || p.unsynced.segments[n-1] != g.segment {
		p.unsynced.segments = append(p.unsynced.segments, g.segment)
	}
	return nil
}

// leaveSegment completes the segment that was written last, before a next one has a file, and closes it if it is synced: there may be any number of these.
func (p *Partition) leaveSegment(watch *watchdog, next *segment) error {
	last := p.lastWritten
	p.lastWritten = next
	if last == nil || last == next {
		return nil
	}
	watch.begin()
	if err := last.cutZeros(); err != nil {
		return err
	}
	p.mu.Lock()
	n := len(p.unsynced.segments)
	synced := n == 0 || p.unsynced.segments[n-1] != last
	p.mu.Unlock()
	if synced {
		last.log.closeUnused()
	}
	return nil
}

// syncWritten syncs every segment written since the last sync, oldest first, and the directory if a segment is new: a walk over the segments
// after a crash ends at the first gap, so a newer segment must not survive an older one.
func (p *Partition) syncWritten(watch *watchdog) error {
	p.mu.Lock()
	segments, directory := p.unsynced.segments, p.unsynced.directory
	p.mu.Unlock()
	for _, s := range segments {
		watch.begin()
		if err := s.sync(); err != nil {
			return err
		}
		if s != p.lastWritten {
			s.log.closeUnused() // as in leaveSegment
		}
	}
	if !directory {
		return nil
	}
	watch.begin()
	if err := p.dir.Sync(); err != nil {
		return &StorageError{Op: "sync directory", Path: p.dir.Path(), Err: err}
	}
	return nil
}

func (s *segment) sync() error {
	file, err := s.log.acquire()
	if err != nil {
		return s.fail("open segment", err)
	}
	defer s.log.release()
	if err := file.Sync(); err != nil {
		return s.fail("sync", err)
	}
	return nil
}

// publishWritten moves the watermark behind a write that was not synced (FlushMessages > 1), and sees to it that a sync follows.
func (p *Partition) publishWritten(g *commitGroup) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return
	}
	p.publishLocked(g)
	if p.unsynced.timer == nil {
		p.unsynced.timer = time.AfterFunc(p.config.Load().syncDelay(), func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.unsynced.due = true
			p.startCommitterLocked()
		})
	}
}

// publishSynced moves the watermark and the synced offset. If the leadership ended meanwhile, by the watchdog, nobody is told of a success.
func (p *Partition) publishSynced(g *commitGroup) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return
	}
	if p.unsynced.timer != nil {
		p.unsynced.timer.Stop()
	}
	p.unsynced.clear()
	if g != nil {
		p.publishLocked(g)
	}
	p.synced = p.watermark.Load()
	p.finishSyncWaitsLocked(nil)
	p.checkpointIfDueLocked()
}

func (p *Partition) publishLocked(g *commitGroup) {
	p.groups = slices.Delete(p.groups, 0, 1)
	g.segment.reaching.Store(g.end)
	g.segment.committed.Store(g.position + g.bytes)
	g.segment.end.Store(g.end)
	p.watermark.Store(g.end)
	p.transactions.advance(g.end)
	g.finish(nil)
	p.notifyLocked()
}

// syncTo waits until everything below offset is synced and checked.
func (p *Partition) syncTo(ctx context.Context, offset int64) error {
	p.mu.Lock()
	if p.err != nil {
		defer p.mu.Unlock()
		return p.err
	}
	if p.synced >= offset {
		p.mu.Unlock()
		return nil
	}
	wait := syncWait{offset: offset, done: make(chan error, 1)}
	p.syncWaits = append(p.syncWaits, wait)
	p.startCommitterLocked()
	p.mu.Unlock()
	select {
	case err := <-wait.done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// finishSyncWaitsLocked wakes who has what they wait for, or everybody with an error.
func (p *Partition) finishSyncWaitsLocked(err error) {
	kept := p.syncWaits[:0]
	for _, w := range p.syncWaits {
		if err == nil && w.offset > p.synced {
			kept = append(kept, w)
			continue
		}
		w.done <- err
	}
	p.syncWaits = kept
}
