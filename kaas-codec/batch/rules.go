package batch

// Rules are the settings under which [Validate] decides. Every field counts: a zero Rules is not
// useful. [DefaultRules] is a start.
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
	MaxBefore, MaxAfter int64
	// MaxDecompressed bounds the bytes that compressed records may become; 0 is [DefaultLimit].
	MaxDecompressed int
}
