package main

import (
	"math"
	"slices"
	"time"
)

// summary is what is told of the same measurement in several rounds.
type summary struct {
	Median float64 `json:"median"`
	Lowest float64 `json:"lowest"`
	Most   float64 `json:"most"`
}

// summarize needs no order. ok is false when there is nothing to summarize.
func summarize(values []float64) (s summary, ok bool) {
	if len(values) == 0 {
		return summary{}, false
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	median := sorted[middle]
	if len(sorted)%2 == 0 {
		median = (sorted[middle-1] + sorted[middle]) / 2
	}
	return summary{Median: median, Lowest: sorted[0], Most: sorted[len(sorted)-1]}, true
}

// percentile is the smallest value that at least the given share (0 to 1) of all values does not exceed; 0 of nothing.
func percentile(values []time.Duration, share float64) time.Duration {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	rank := int(math.Ceil(share * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1]
}

// milliseconds keeps the fraction.
func milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }

// megabytesPerSecond counts in millions of bytes.
func megabytesPerSecond(bytes int64, took time.Duration) float64 {
	return float64(bytes) / 1e6 / took.Seconds()
}

// perGigabyte is seconds for each 10^9 bytes.
func perGigabyte(spent time.Duration, bytes int64) float64 {
	return spent.Seconds() / (float64(bytes) / 1e9)
}
