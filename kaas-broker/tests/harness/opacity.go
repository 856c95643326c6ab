package harness

import (
	"context"
	"encoding/json"
	"net/http"
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
// opaque: what is stored and sent are the producer's bytes.
func (b *Broker) checkOpacity(t testing.TB) {
	t.Helper()
	k, is := b.process.(*kaas)
	if !is {
		return
	}
	var report struct {
		Decodes   map[string]int64 `json:"codec_record_decode"`
		Reencodes map[string]int64 `json:"codec_batch_reencode"`
	}
	if err := k.askHealth(&report); err != nil {
		t.Errorf("the broker's health at the end: %v", err)
		return
	}
	for what, counts := range map[string]map[string]int64{"decoded": report.Decodes, "encoded anew": report.Reencodes} {
		for site, count := range counts {
			// The coordinator's records are the broker's own.
			if site != "coordinator" && !slices.Contains(b.options.Decodes, site) {
				t.Errorf("records of %d batches were %s at %s", count, what, site)
			}
		}
	}
}

// askHealth reads /healthz.
func (k *kaas) askHealth(report any) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+k.health+"/healthz", nil)
	if err != nil {
		return err
	}
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	return json.NewDecoder(response.Body).Decode(report)
}
