package batch

import "math"

// Rules are the settings under which [Validate] decides. A zero Rules is not useful, for MaxBytes 0
// lets nothing pass and Compression 0 is [None]; [DefaultRules] is the start.
type Rules struct {
	// Version is the version of the Produce request. It decides which formats and codecs may come.
	Version int16
	// MaxBytes is the topic's `max.message.bytes`: the largest batch, compressed, header included.
	MaxBytes int
	// Compacted is set for topics whose `cleanup.policy` contains compact: each record needs a key.
	Compacted bool
	// AppendTime is set for topics with `message.timestamp.type=LogAppendTime`.
	AppendTime bool
	// Compression is the topic's codec, [KeepCompression] for `producer`.
	Compression Compression
	// Now is the wall clock in milliseconds since the Unix epoch.
	Now int64
	// MaxBefore and MaxAfter are `message.timestamp.before.max.ms` and `….after.max.ms`:
	// how far in milliseconds a timestamp may lie before or after Now. math.MaxInt64 is no bound.
	// They do not apply with AppendTime.
	MaxBefore, MaxAfter int64
	// MaxDecompressed bounds the bytes that compressed records may become; 0 is [DefaultLimit].
	MaxDecompressed int
}

// DefaultMaxBytes is Kafka's default of `max.message.bytes`.
const DefaultMaxBytes = 1048588

// DefaultRules returns the rules of a topic without settings, for the newest Produce version.
func DefaultRules() Rules {
	return Rules{
		Version:     math.MaxInt16,
		MaxBytes:    DefaultMaxBytes,
		Compression: KeepCompression,
		MaxBefore:   math.MaxInt64,
		MaxAfter:    math.MaxInt64,
	}
}

// codec returns the codec in which to store records that came in another.
func (r Rules) codec(source Compression) Compression {
	if r.Compression >= None {
		return r.Compression
	}
	return source
}

// bounded reports whether timestamps are to be compared with Now.
func (r Rules) bounded() bool {
	return !r.AppendTime && (r.MaxBefore != math.MaxInt64 || r.MaxAfter != math.MaxInt64)
}

// inBounds reports whether a timestamp in milliseconds lies within the bounds; none always does.
func (r Rules) inBounds(timestamp int64) bool {
	return timestamp == NoTimestamp ||
		subtractSaturating(r.Now, timestamp) <= r.MaxBefore && subtractSaturating(timestamp, r.Now) <= r.MaxAfter
}

func addSaturating(a, b int64) int64 {
	sum := a + b
	switch {
	case b > 0 && sum < a:
		return math.MaxInt64
	case b < 0 && sum > a:
		return math.MinInt64
	}
	return sum
}

func subtractSaturating(a, b int64) int64 {
	difference := a - b
	switch {
	case b < 0 && difference < a:
		return math.MaxInt64
	case b > 0 && difference > a:
		return math.MinInt64
	}
	return difference
}
