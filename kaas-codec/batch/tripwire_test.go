package batch_test

import (
	"sync"
	"testing"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

func TestTripwires(t *testing.T) {
	var wires batch.Tripwires
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 100 {
				wires.Decoded(batch.SiteCompaction)
				wires.Reencoded(batch.SiteRecompress)
			}
		})
	}
	group.Wait()
	wires.Decoded("nobody knows this site")
	counts := wires.Snapshot()
	if counts[batch.SiteCompaction].Decoded != 400 || counts[batch.SiteRecompress].Reencoded != 400 {
		t.Errorf("counted %+v", counts)
	}
	if counts[batch.SiteTool].Decoded != 1 || counts[batch.SiteUpConvert] != (batch.Counts{}) {
		t.Errorf("unknown site: %+v", counts)
	}
	if len(counts) != 11 {
		t.Errorf("%d sites", len(counts))
	}
}

func TestNilTripwires(t *testing.T) {
	var wires *batch.Tripwires
	wires.Decoded(batch.SiteTool)
	wires.Reencoded(batch.SiteTool)
	if got := wires.Snapshot(); got == nil || len(got) != 0 {
		t.Errorf("got %v", got)
	}
}
