package txn

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/kaas-rs/kaas/kaas-coordinator/slot"
)

// Mark is the last marker of a producer in a slot of groups. One whose identity is not above it is late or repeated, and does nothing.
type Mark struct {
	Identity int64
	Epoch    int16 // of the producer
	Commit   bool
	Time     int64 // when it was placed, ms since 1970
}

// mark is the value of a marker record.
type mark struct {
	Version  int   `json:"version"`
	Identity int64 `json:"identity"`
	Epoch    int16 `json:"epoch"`
	Commit   bool  `json:"commit"`
	Time     int64 `json:"time"`
}

// Encode returns the value of a marker record.
func (m Mark) Encode() ([]byte, error) {
	return json.Marshal(mark{slot.Version, m.Identity, m.Epoch, m.Commit, m.Time})
}

// DecodeMark reads the value of a marker record. An unknown version is a *slot.VersionError.
func DecodeMark(value []byte) (Mark, error) {
	var read mark
	if err := json.Unmarshal(value, &read); err != nil {
		return Mark{}, fmt.Errorf("marker: %w", err)
	}
	if err := slot.CheckVersion(slot.KindMarker, read.Version); err != nil {
		return Mark{}, err
	}
	return Mark{Identity: read.Identity, Epoch: read.Epoch, Commit: read.Commit, Time: read.Time}, nil
}

// IsExpired reports whether no marker of the producer came for so long that none will that is older.
func (m Mark) IsExpired(now time.Time, expiry time.Duration) bool {
	return m.Time <= now.UnixMilli()-expiry.Milliseconds()
}
