package storage

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Epoch numbers the leaderships of one partition: each takeover chooses one above all that came before.
// On the wire it is Kafka's leader epoch. Valid epochs are 0 to math.MaxInt32.
type Epoch int32

// NoEpoch stands where Kafka's protocol sends -1: unknown, or not checked.
const NoEpoch Epoch = -1

// Claim numbers that no leader can hold. They are above every epoch, so a taker that meets one gives way.
const (
	claimDeleted uint32 = 0xffffffff // the partition is being deleted
	claimMoving  uint32 = 0xfffffffe // the partition is being moved to another volume
)

const (
	claimPrefix    = "leader."
	manifestPrefix = "manifest."
	logSuffix      = ".log"
	indexSuffix    = ".index"
	timeSuffix     = ".timeindex"
	abortedSuffix  = ".txnindex"
)

func claimName(number uint32) string  { return fmt.Sprintf("%s%08x", claimPrefix, number) }
func manifestName(epoch Epoch) string { return fmt.Sprintf("%s%08x", manifestPrefix, uint32(epoch)) }
func (e Epoch) claim() uint32         { return uint32(e) }

// parseNumber reads the eight lower-case hexadecimal digits that end claim, manifest and segment names.
func parseNumber(s string) (uint32, bool) {
	if len(s) != 8 || strings.ToLower(s) != s {
		return 0, false
	}
	n, err := strconv.ParseUint(s, 16, 32)
	return uint32(n), err == nil
}

func parseClaim(name string) (uint32, bool) {
	rest, ok := strings.CutPrefix(name, claimPrefix)
	if !ok {
		return 0, false
	}
	n, ok := parseNumber(rest)
	return n, ok && (n <= math.MaxInt32 || n >= claimMoving)
}

func parseManifest(name string) (Epoch, bool) {
	rest, ok := strings.CutPrefix(name, manifestPrefix)
	if !ok {
		return 0, false
	}
	return parseEpoch(rest)
}

func parseEpoch(s string) (Epoch, bool) {
	n, ok := parseNumber(s)
	if !ok || n > math.MaxInt32 {
		return 0, false
	}
	return Epoch(n), true
}

// segmentName is what the name of a segment's file says: the first offset, the epoch of its writer, and which file it is.
type segmentName struct {
	base       int64
	epoch      Epoch
	suffix     string
	generation uint32 // of what compaction wrote, counted from 1 within the epoch; 0 for what was appended
}

func (s segmentName) String() string {
	if s.generation > 0 {
		return fmt.Sprintf("%020d.%08x.%08x%s", s.base, uint32(s.epoch), s.generation, s.suffix)
	}
	return fmt.Sprintf("%020d.%08x%s", s.base, uint32(s.epoch), s.suffix)
}

func parseSegment(name string) (segmentName, bool) {
	stem, suffix := name, ""
	for _, s := range [...]string{logSuffix, indexSuffix, timeSuffix, abortedSuffix} {
		if rest, ok := strings.CutSuffix(name, s); ok {
			stem, suffix = rest, s
			break
		}
	}
	base, rest, ok := strings.Cut(stem, ".")
	if suffix == "" || !ok || len(base) != 20 {
		return segmentName{}, false
	}
	epoch, number, compacted := strings.Cut(rest, ".")
	generation, ok := parseNumber(number)
	if compacted && (!ok || generation == 0) {
		return segmentName{}, false
	}
	b, err := strconv.ParseUint(base, 10, 63) // unsigned, because a sign would be a second name of the same segment
	e, ok := parseEpoch(epoch)
	if err != nil || !ok {
		return segmentName{}, false
	}
	return segmentName{base: int64(b), epoch: e, suffix: suffix, generation: generation}, true
}

// parseTemporary reads the epoch of a manifest that was never finished: vfs.WriteFileAtomic calls it ".<name>.<random>.tmp".
func parseTemporary(name string) (Epoch, bool) {
	rest, ok := strings.CutPrefix(name, "."+manifestPrefix)
	if !ok || !strings.HasSuffix(rest, ".tmp") {
		return 0, false
	}
	epoch, _, _ := strings.Cut(rest, ".")
	return parseEpoch(epoch)
}
