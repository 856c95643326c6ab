package storage

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// Versions of manifests. One that names compacted files has a version that software which does not know them refuses: it would serve files that are dead.
const (
	plainVersion     = 1
	compactedVersion = 2 // the newest that this software reads
)

// maxManifest bounds what is read of a manifest: about 150 bytes for each live producer.
const maxManifest = 1 << 30

// chainEntry names the files that one epoch contributed to the log: its segments with bases from First to LastSegment,
// of the last one ValidBytes bytes. What the epoch's writer left outside of these bounds is garbage that nobody reads.
type chainEntry struct {
	Epoch       Epoch `json:"epoch"`
	First       int64 `json:"first"`
	End         int64 `json:"end"` // exclusive
	LastSegment int64 `json:"lastSegment"`
	indexState
}

// indexState says how far a segment's files counted at one moment. Index entries behind it may be torn by a crash
// or written by a zombie, and are not read.
type indexState struct {
	ValidBytes    int64 `json:"validBytes"`
	OffsetEntries int64 `json:"offsetEntries"`
	TimeEntries   int64 `json:"timeEntries"`
	// AbortedEntries are needed, not only useful: a taker that finds fewer stops.
	AbortedEntries int64 `json:"abortedEntries,omitempty"`
}

// manifest is the authority on one partition: the one of the highest epoch counts, whatever else lies in the directory.
type manifest struct {
	Epoch    Epoch `json:"epoch"`
	LogStart int64 `json:"logStart"`
	// Chain holds the closed epochs, in order. The writer's own epoch is open and not in it: it begins at OwnFirst and its segments
	// are found by name, so that a roll writes no manifest.
	Chain    []chainEntry `json:"chain"`
	OwnFirst int64        `json:"ownFirst"`
	// Compacted holds the files of compaction in order. Each stands for every other file with an offset of its range, of whatever epoch.
	Compacted []compactedFile `json:"compacted,omitempty"`
	// Cleaned is the offset up to which compaction has seen every key; 0 without compacted files.
	Cleaned int64 `json:"cleaned,omitempty"`
	// RecoveryPoint is the last offset known to be synced and checked, with its indexes. It lies at byte Recovery.ValidBytes of the
	// own segment RecoverySegment, the last one that has batches below it (at OwnFirst while there is none); a takeover scans from here.
	RecoveryPoint   int64        `json:"recoveryPoint"`
	RecoverySegment int64        `json:"recoverySegment"`
	Recovery        indexState   `json:"recovery"`
	LeaderEpochs    leaderEpochs `json:"leaderEpochs"` // up to the recovery point
	Producers       []producer   `json:"producers"`    // at the recovery point
}

// envelope is the file's outer form. The checksum is CRC-32C over the body's bytes.
type envelope struct {
	Version  int             `json:"version"`
	Checksum string          `json:"checksum"`
	Body     json.RawMessage `json:"body"`
}

func checksum(body []byte) string {
	return fmt.Sprintf("%08x", crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)))
}

func (m *manifest) encode() ([]byte, error) {
	body, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode manifest: %w", err)
	}
	return json.Marshal(envelope{Version: m.version(), Checksum: checksum(body), Body: body})
}

// version is the lowest that says what the manifest says.
func (m *manifest) version() int {
	if len(m.Compacted) > 0 {
		return compactedVersion
	}
	return plainVersion
}

func decodeManifest(data []byte) (*manifest, error) {
	var e envelope
	if err := json.Unmarshal(data, &e); err != nil {
		return nil, fmt.Errorf("not a manifest: %w", err)
	}
	if e.Version > compactedVersion {
		return nil, fmt.Errorf("manifest version %d, this software knows up to %d: %w", e.Version, compactedVersion, ErrFutureVersion)
	}
	if e.Version < 1 {
		return nil, fmt.Errorf("manifest version %d", e.Version)
	}
	if sum := checksum(e.Body); sum != e.Checksum {
		return nil, fmt.Errorf("checksum %s, contents have %s", e.Checksum, sum)
	}
	var m manifest
	if err := json.Unmarshal(e.Body, &m); err != nil {
		return nil, fmt.Errorf("manifest body: %w", err)
	}
	if m.version() > e.Version {
		return nil, fmt.Errorf("version %d with compacted files", e.Version)
	}
	return &m, m.validate()
}

// validate refuses what no writer produces, so that the code behind it need not be suspicious again.
func (m *manifest) validate() error {
	if m.Epoch < 0 || m.LogStart < 0 || m.OwnFirst < 0 || !m.Recovery.possible() {
		return errors.New("negative field")
	}
	if m.RecoveryPoint < m.OwnFirst || m.RecoveryPoint < m.LogStart {
		return fmt.Errorf("recovery point %d below own first offset %d or log start %d", m.RecoveryPoint, m.OwnFirst, m.LogStart)
	}
	if m.RecoverySegment < m.OwnFirst || m.RecoverySegment > m.RecoveryPoint {
		return fmt.Errorf("recovery segment %d is not in [%d, %d]", m.RecoverySegment, m.OwnFirst, m.RecoveryPoint)
	}
	if !m.LeaderEpochs.ascending() {
		return errors.New("leader epochs are out of order")
	}
	if err := m.validateTransactions(); err != nil {
		return err
	}
	if err := m.validateChain(); err != nil {
		return err
	}
	return m.validateCompacted()
}

// validateChain wants the files of closed epochs to hold everything from the log start to where one's own begin: a gap would read as an empty log.
func (m *manifest) validateChain() error {
	next, lastEpoch := m.LogStart, NoEpoch
	for i, c := range m.Chain {
		if c.Epoch <= lastEpoch || c.Epoch >= m.Epoch || c.First < 0 || c.End <= c.First || c.LastSegment < c.First || c.LastSegment >= c.End ||
			c.ValidBytes <= 0 || !c.possible() {
			return fmt.Errorf("impossible chain entry of epoch %d", c.Epoch)
		}
		if c.First > next || i > 0 && c.First < next {
			return fmt.Errorf("chain does not go on at offset %d, but at %d", next, c.First)
		}
		next, lastEpoch = c.End, c.Epoch
	}
	if m.OwnFirst > next || len(m.Chain) > 0 && m.OwnFirst < next {
		return fmt.Errorf("chain ends at %d, own epoch begins at %d", next, m.OwnFirst)
	}
	return nil
}

// validateTransactions wants each open transaction to have begun below the recovery point, at an offset of its own.
func (m *manifest) validateTransactions() error {
	starts := make(map[int64]bool)
	for _, p := range m.Producers {
		state := p.transaction()
		if state.Start < -1 || state.Start >= m.RecoveryPoint || state.Marker < -1 || starts[state.Start] {
			return fmt.Errorf("impossible transaction of producer %d", p.ID)
		}
		if state.Start >= 0 {
			starts[state.Start] = true
		}
	}
	return nil
}

func (i indexState) possible() bool {
	return i.ValidBytes >= 0 && i.OffsetEntries >= 0 && i.TimeEntries >= 0 && i.AbortedEntries >= 0
}

// pruneFiles forgets epochs and compacted files that end at or below the log start: they are dead by it.
func (m *manifest) pruneFiles() {
	m.pruneCompacted()
	m.Chain = slices.DeleteFunc(m.Chain, func(c chainEntry) bool { return c.End <= m.LogStart })
	if len(m.Chain) == 0 {
		m.Chain = nil
	}
}

// write puts the manifest under its own epoch's name. Four questions: the rename is the atomic step; writing again is harmless;
// only the holder of the epoch's claim writes this name; and no later leadership ever has the same epoch.
func (m *manifest) write(dir vfs.Dir) (int, error) {
	data, err := m.encode()
	if err != nil {
		return 0, err
	}
	if err := vfs.WriteFileAtomic(dir, manifestName(m.Epoch), data); err != nil {
		return 0, &StorageError{Op: "write manifest", Path: dir.Path(), Err: err}
	}
	return len(data), nil
}

// readManifest reads one epoch's manifest. An unreadable one is an error: to fall back to an older manifest would be
// to guess, and could bring back records that a reader has seen replaced.
func readManifest(dir vfs.Dir, e Epoch) (*manifest, error) {
	name := manifestName(e)
	data, err := vfs.ReadFile(dir, name, maxManifest)
	if err != nil {
		return nil, &StorageError{Op: "read manifest", Path: dir.Path(), Err: err}
	}
	m, err := decodeManifest(data)
	switch {
	case errors.Is(err, ErrFutureVersion):
		return nil, fmt.Errorf("%s/%s: %w", dir.Path(), name, err)
	case err != nil:
		return nil, &CorruptionError{Dir: dir.Path(), File: name, Offset: -1, Cause: err.Error()}
	case m.Epoch != e:
		return nil, &CorruptionError{Dir: dir.Path(), File: name, Offset: -1, Cause: fmt.Sprintf("holds epoch %d", m.Epoch)}
	}
	return m, nil
}

// InitPartition writes the first manifest of an empty partition: its leaders start above floor, the cluster's epoch floor.
// A directory that has any manifest is left as it is, so that the call can be repeated. One that was led but has none has lost its log, which
// an empty one would hide: ErrNoManifest. ErrDeleted: somebody is deleting it.
func InitPartition(dir vfs.Dir, floor Epoch) error {
	names, err := listPartition(dir)
	if err != nil {
		return err
	}
	switch highest := names.highestClaim(); {
	case highest == claimDeleted:
		return fmt.Errorf("prepare %s: %w", dir.Path(), ErrDeleted)
	case len(names.manifests) > 0:
		return nil
	case names.highest > NoEpoch:
		return fmt.Errorf("prepare %s, which has been led: %w", dir.Path(), ErrNoManifest)
	}
	m := &manifest{Epoch: floor}
	_, err = m.write(dir)
	return err
}

// HighestEpoch returns the highest epoch in any name of the directory, NoEpoch when there is none.
func HighestEpoch(dir vfs.Dir) (Epoch, error) {
	names, err := listPartition(dir)
	if err != nil {
		return NoEpoch, err
	}
	return names.highest, nil
}

// partitionNames is one listing of a partition's directory. Entries that are not ours (lost+found, .snapshot, .nfs…) are left out.
type partitionNames struct {
	claims    []uint32 // ascending
	manifests []Epoch  // ascending
	segments  []segmentName
	highest   Epoch // of all names but the reserved claims
	written   Epoch // of the files among them: somebody led at this epoch

	temporaries []temporary
}

// temporary is a manifest that was never finished. Its epoch does not count: it was chosen above all others by its claim, which does.
type temporary struct {
	name  string
	epoch Epoch
}

func listPartition(dir vfs.Dir) (*partitionNames, error) {
	entries, err := dir.List()
	if err != nil {
		if isGone(err) {
			return nil, fmt.Errorf("list %s: %w", dir.Path(), ErrDeleted)
		}
		return nil, &StorageError{Op: "list", Path: dir.Path(), Err: err}
	}
	names := &partitionNames{highest: NoEpoch, written: NoEpoch}
	for _, entry := range entries {
		names.add(entry)
	}
	slices.Sort(names.claims)
	slices.Sort(names.manifests)
	return names, nil
}

func (n *partitionNames) add(entry vfs.Entry) {
	name := entry.Name
	if entry.IsDir {
		n.addClaim(name)
		return
	}
	if e, ok := parseTemporary(name); ok {
		n.temporaries = append(n.temporaries, temporary{name, e})
		return
	}
	if e, ok := parseManifest(name); ok {
		n.manifests = append(n.manifests, e)
		n.written = max(n.written, e)
		n.highest = max(n.highest, e)
		return
	}
	if s, ok := parseSegment(name); ok {
		n.segments = append(n.segments, s)
		n.written = max(n.written, s.epoch)
		n.highest = max(n.highest, s.epoch)
	}
}

func (n *partitionNames) addClaim(name string) {
	number, ok := parseClaim(name)
	if !ok {
		return
	}
	n.claims = append(n.claims, number)
	if number < claimMoving {
		n.highest = max(n.highest, Epoch(number))
	}
}

// highestClaim is the number of the highest claim, 0 when there is none.
func (n *partitionNames) highestClaim() uint32 {
	if len(n.claims) == 0 {
		return 0
	}
	return n.claims[len(n.claims)-1]
}
