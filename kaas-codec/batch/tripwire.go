package batch

import "sync/atomic"

// Site names a place that decodes or encodes records. The sites are few and fixed, so that a
// dashboard can show each of them.
type Site string

// The sites of kaas. On the produce and fetch path the first six are the only ones, and each
// is forced by Kafka's contract.
const (
	// SiteCompactKeys looks for keys in records that go to a compacted topic.
	SiteCompactKeys Site = "compact-keys"
	// SiteMaxTimestamp finds the maximum timestamp that a producer left unset.
	SiteMaxTimestamp Site = "max-timestamp"
	// SiteTimestampBounds compares record timestamps with a topic's bounds.
	SiteTimestampBounds Site = "timestamp-bounds"
	// SiteUpConvert turns message sets v0 and v1 into a v2 batch.
	SiteUpConvert Site = "up-convert"
	// SiteDownConvert turns v2 batches into message sets v0 and v1.
	SiteDownConvert Site = "down-convert"
	// SiteRecompress changes the codec to a topic's `compression.type`.
	SiteRecompress Site = "recompress"
	// SiteTimestampLookup finds the record of a timestamp (ListOffsets).
	SiteTimestampLookup Site = "timestamp-lookup"
	// SiteCompaction reads and rewrites records of a compacted topic in the background.
	SiteCompaction Site = "compaction"
	// SiteControlRecord reads the type of a control batch.
	SiteControlRecord Site = "control-record"
	// SiteCoordinator reads the coordinator's own records.
	SiteCoordinator Site = "coordinator"
	// SiteTool is a person looking at records.
	SiteTool Site = "tool"
)

// Counts are the tripwire counters of one site.
type Counts struct {
	// Decoded is the number of batches whose records were decoded.
	Decoded uint64
	// Reencoded is the number of batches whose records were encoded anew.
	Reencoded uint64
}

// siteOrder gives each site its counters' index.
var siteOrder = [...]Site{
	SiteCompactKeys, SiteMaxTimestamp, SiteTimestampBounds, SiteUpConvert, SiteDownConvert,
	SiteRecompress, SiteTimestampLookup, SiteCompaction, SiteControlRecord, SiteCoordinator, SiteTool,
}

// Tripwires counts decodes and re-encodes by [Site]. The zero value is ready; a nil *Tripwires
// counts nothing. All methods are safe for concurrent use.
type Tripwires struct {
	sites [len(siteOrder)]struct{ decoded, reencoded atomic.Uint64 }
}

// Decoded counts one batch whose records were decoded at the site. Unknown sites count as
// [SiteTool].
func (t *Tripwires) Decoded(site Site) {
	if t != nil {
		t.sites[siteIndex(site)].decoded.Add(1)
	}
}

// Reencoded counts one batch whose records were encoded anew at the site.
func (t *Tripwires) Reencoded(site Site) {
	if t != nil {
		t.sites[siteIndex(site)].reencoded.Add(1)
	}
}

// Snapshot returns the counters of every site, zeros included. It is empty for nil.
func (t *Tripwires) Snapshot() map[Site]Counts {
	counts := make(map[Site]Counts, len(siteOrder))
	if t == nil {
		return counts
	}
	for i, site := range siteOrder {
		counts[site] = Counts{Decoded: t.sites[i].decoded.Load(), Reencoded: t.sites[i].reencoded.Load()}
	}
	return counts
}

func siteIndex(site Site) int {
	for i, known := range siteOrder {
		if known == site {
			return i
		}
	}
	return len(siteOrder) - 1
}
