package harness

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"
)

// ForcedSites are the sites on the way of produced and fetched records, and of ListOffsets, where Kafka's contract leaves no choice: for Options.Decodes
// of a test that does everything.
func ForcedSites() []string {
	return []string{"compact-keys", "max-timestamp", "timestamp-bounds", "up-convert", "down-convert", "recompress", "timestamp-lookup"}
}

// checkOpacity fails a test when its broker has looked into records, or encoded some anew, at a place where the test gave it no reason to. Batches are
// opaque: what is stored and sent are the producer's bytes. The counters die with the process, so whoever is about to end one asks first. A broker that has
// left by itself, or that is frozen, is not asked.
func (b *Broker) checkOpacity(t testing.TB) {
	t.Helper()
	k, is := b.process.(*kaas)
	if !is || !b.running || b.frozen.Load() {
		return
	}
	var counts opacity
	if err := k.askHealth(&counts); err != nil {
		if _, left := k.wait(5 * time.Second); !left { // it may be on its way out
			t.Errorf("the broker's counters of records that it looked into: %v", err)
		}
		return
	}
	for _, broken := range counts.broken(b.options.Decodes) {
		t.Error(broken)
	}
}

// opacity is what /healthz tells of records that the broker looked into.
type opacity struct {
	Decodes   map[string]int64 `json:"codec_record_decode"`
	Reencodes map[string]int64 `json:"codec_batch_reencode"`
}

// broken lists the counters that are not zero although they should be.
func (o opacity) broken(allowed []string) []string {
	var list []string
	for what, counts := range map[string]map[string]int64{"decoded": o.Decodes, "encoded anew": o.Reencodes} {
		for site, count := range counts {
			// The coordinator's records are the broker's own, and what has keys is compacted in the background, with the markers of transactions.
			own := site == "coordinator" || slices.Contains(allowed, "compact-keys") && (site == "compaction" || site == "control-record")
			if !own && count != 0 && !slices.Contains(allowed, site) {
				list = append(list, fmt.Sprintf("records of %d batches were %s at %s", count, what, site))
			}
		}
	}
	return list
}

// askHealth reads /healthz.
func (k *kaas) askHealth(report any) error {
	text, err := k.get("/healthz")
	if err != nil {
		return err
	}
	return json.Unmarshal(text, report)
}
