package storage

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// takeover is what the five steps of a takeover produce: a log that one owner may append to.
type takeover struct {
	claim    *claim
	manifest *manifest  // one's own, as written
	segments []*segment // all of the log, ascending; the last is one's own if the copy was not empty
	tail     tail
	garbage  []string // names of older epochs that no later leader reads
}

// takeOver makes this process the leader of a partition, in five steps. Each needs the one before it:
//
//	1 claim      makeClaim: the epoch is new, so no file name of it exists; begin: a process that was replaced goes no further
//	2 settle     removeLower: no earlier leader's check succeeds any more, so nothing is acknowledged behind our back;
//	             whatever was acknowledged was durable before its check, so the scan below finds it
//	3 scan       read with handles opened now: older ones may answer from a cache filled before the last write
//	4 copy       the old owner may never have made its tail durable, and another client's sync does not: without our own
//	             copy, synced, a record that we show could vanish at a server crash
//	5 manifest   written, synced, and the claim checked after it: a taker above us that listed before our manifest would
//	             scan the old chain; if it exists, the check fails and we never answered anybody
func takeOver(dir vfs.Dir, o TakeOptions) (*takeover, error) {
	c, err := makeClaim(dir, o.MinEpoch)
	if err != nil {
		return nil, err
	}
	t := &takeover{claim: c}
	if err := t.begin(dir, o); err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

// close drops the handles of a takeover that nobody wants. What it wrote is garbage to the next taker, and its claim a lower one.
func (t *takeover) close() {
	for _, s := range t.tail.segments {
		s.close()
	}
	t.claim.close()
}

// begin asks whether the partition is still to be taken, between the claim and the removal of others. Not before the claim: a successor that comes between
// the question and the claim would find no trace of us, take a lower epoch and be fenced. When we may go on, a successor that comes later lists our
// claim and takes a higher one. When we may not, the claim stays: a name that was used is not free again, and whoever leads does not look at it.
func (t *takeover) begin(dir vfs.Dir, o TakeOptions) error {
	if o.Entitled != nil {
		if err := o.Entitled(); err != nil {
			return fmt.Errorf("take %s: not entitled any more: %w", dir.Path(), err)
		}
	}
	return t.succeed(dir, o)
}

// succeed runs the steps from the second on.
func (t *takeover) succeed(dir vfs.Dir, o TakeOptions) error {
	names, err := t.claim.settle()
	if err != nil {
		return err
	}
	if err := names.mayTake(dir); err != nil {
		return err
	}
	old, err := readManifest(dir, names.manifests[len(names.manifests)-1])
	if err != nil {
		return err
	}
	t.tail = newTail(old, t.claim.epoch)
	if err := t.tail.copyFrom(dir, old, names, o.Config.IndexInterval); err != nil {
		return err
	}
	t.manifest = succeedManifest(old, t.claim.epoch)
	if err := t.listSegments(dir, names); err != nil {
		return err
	}
	if _, err := t.manifest.write(dir); err != nil {
		return err
	}
	if err := t.claim.check(); err != nil {
		return err
	}
	t.garbage = names.garbage(t.manifest, t.segments)
	return nil
}

// succeedManifest closes the old epoch where the copy begins and opens one's own there, so that a crash loop does not grow the chain.
// An epoch that contributes no batch is left out.
func succeedManifest(old *manifest, epoch Epoch) *manifest {
	m := &manifest{
		Epoch:           epoch,
		LogStart:        old.LogStart,
		Chain:           slices.Clone(old.Chain),
		OwnFirst:        old.RecoveryPoint,
		RecoveryPoint:   old.RecoveryPoint,
		RecoverySegment: old.RecoveryPoint,
		LeaderEpochs:    slices.Clone(old.LeaderEpochs),
		Producers:       old.Producers,
		Compacted:       slices.Clone(old.Compacted),
		Cleaned:         old.Cleaned,
	}
	if last, found := old.lastSegment(); found && old.RecoveryPoint > old.LogStart {
		m.Chain = append(m.Chain, chainEntry{Epoch: old.Epoch, First: old.OwnFirst, End: old.RecoveryPoint, LastSegment: last, indexState: old.Recovery})
	}
	m.pruneFiles()
	return m
}

// lastSegment is the own segment that the recovery point is the end of, if the epoch has any batch below it.
func (m *manifest) lastSegment() (int64, bool) {
	return m.RecoverySegment, m.RecoveryPoint > m.OwnFirst
}

// listSegments names the files of the log in order: those of the chain and of compaction, then one's own copy.
func (t *takeover) listSegments(dir vfs.Dir, names *partitionNames) error {
	segments, err := placeSegments(dir, t.manifest, names)
	if err != nil {
		return err
	}
	t.segments = append(segments, t.tail.segments...)
	return nil
}

// chainSegments finds an epoch's segments by name, between the bounds of its chain entry. Segments wholly below the log start, and those that compacted files
// stand for, may be gone.
func chainSegments(dir vfs.Dir, entry chainEntry, names *partitionNames, m *manifest) ([]*segment, error) {
	bases := names.bases(entry.Epoch, entry.First, entry.LastSegment)
	segments := make([]*segment, 0, len(bases))
	for i, base := range bases {
		end := entry.End
		if i+1 < len(bases) {
			end = bases[i+1]
		}
		end = m.untilCompacted(base, end)
		if end <= m.LogStart || m.replaced(base) {
			continue
		}
		s := newSegment(dir, base, entry.Epoch, fileInherited)
		if err := s.inherit(dir, entry, end, names); err != nil {
			return nil, err
		}
		segments = append(segments, s)
	}
	if last := entry.LastSegment; !m.replaced(last) && (len(segments) == 0 || segments[len(segments)-1].base != last) {
		return nil, m.missingSegment(dir, last)
	}
	return segments, nil
}

// bases lists the bases of an epoch's log files as it appended them, within bounds, ascending.
func (n *partitionNames) bases(epoch Epoch, first, last int64) []int64 {
	var bases []int64
	for _, s := range n.segments {
		if s.suffix == logSuffix && s.generation == 0 && s.epoch == epoch && s.base >= first && s.base <= last {
			bases = append(bases, s.base)
		}
	}
	slices.Sort(bases)
	return bases
}

// inherit fixes what counts of another epoch's segment. Its last one counts as far as the chain says, an earlier one to the end of its file:
// the recovery point has passed it, so its bytes and its indexes were complete and synced.
func (s *segment) inherit(dir vfs.Dir, entry chainEntry, end int64, names *partitionNames) error {
	counts := indexState{ValidBytes: math.MaxInt64, OffsetEntries: math.MaxInt64, TimeEntries: math.MaxInt64, AbortedEntries: math.MaxInt64}
	if s.base == entry.LastSegment {
		counts = entry.indexState
	}
	size, err := sizeOf(dir, s.log.name)
	if err != nil {
		return &StorageError{Op: "measure segment", Path: dir.Path(), Err: err}
	}
	if s.base == entry.LastSegment && size < counts.ValidBytes {
		return &CorruptionError{Dir: dir.Path(), File: s.log.name.String(), Offset: size, Cause: "file is shorter than what was durable"}
	}
	stat, err := dir.Stat(s.log.name.String())
	if err != nil {
		return &StorageError{Op: "stat segment", Path: dir.Path(), Err: err}
	}
	s.size = min(counts.ValidBytes, size)
	s.reaching.Store(end)
	s.committed.Store(s.size)
	s.end.Store(end)
	s.created = stat.ModTime
	if err := s.inheritAborted(dir, names, counts.AbortedEntries); err != nil {
		return err
	}
	return s.inheritIndexes(dir, counts)
}

// sizeOf opens the file to measure it: the client of a file server may answer Stat from a cache that is older than the last write,
// but asks the server when it opens. A size that is too small would hide acknowledged records, or a segment's newest timestamp.
func sizeOf(dir vfs.Dir, name segmentName) (int64, error) {
	file, err := dir.Open(name.String())
	if err != nil {
		return 0, err
	}
	size, err := file.Size()
	return size, errors.Join(err, file.Close())
}

// inheritIndexes counts the entries that can be read. A lost index, or the rest of one, is found by scanning the log instead.
func (s *segment) inheritIndexes(dir vfs.Dir, counts indexState) error {
	offsets, err := entriesIn(dir, &s.offsets, offsetEntrySize, counts.OffsetEntries)
	if err != nil {
		return err
	}
	times, err := entriesIn(dir, &s.times, timeEntrySize, counts.TimeEntries)
	if err != nil {
		return err
	}
	if counts.TimeEntries != math.MaxInt64 && times < counts.TimeEntries {
		times = 0 // the last entry has the largest timestamp; without it the others would hide newer records
	}
	s.index.stored = indexState{ValidBytes: s.size, OffsetEntries: offsets, TimeEntries: times}
	return nil
}

func entriesIn(dir vfs.Dir, index *fileHandle, size, limit int64) (int64, error) {
	if limit == 0 {
		return 0, nil
	}
	bytes, err := sizeOf(dir, index.name)
	switch {
	case isGone(err):
		return 0, nil
	case err != nil:
		return 0, &StorageError{Op: "measure index", Path: dir.Path(), Err: err}
	}
	return min(limit, bytes/size), nil
}

// garbage lists the files of older epochs that are in no chain: manifests that ours succeeds, tails that we copied, what zombies left.
// Only epochs below one's own are named: the listing was made before the check that followed our synced manifest.
func (n *partitionNames) garbage(m *manifest, live []*segment) []string {
	keep := make(map[string]bool, 3*len(live))
	for _, s := range live {
		for _, file := range s.files() {
			keep[file.name.String()] = true
		}
	}
	var names []string
	for _, s := range n.segments {
		if name := s.String(); s.epoch < m.Epoch && !keep[name] {
			names = append(names, name)
		}
	}
	for _, e := range n.manifests {
		if e < m.Epoch {
			names = append(names, manifestName(e))
		}
	}
	for _, t := range n.temporaries {
		if t.epoch < m.Epoch {
			names = append(names, t.name)
		}
	}
	return names
}
