package batch

// DownConvert turns whole v2 batches into a message set of magic 0 or 1 for old fetches.
func DownConvert(batches []byte, magic int8, t *Tripwires) ([]byte, error) {
	return nil, ErrUnsupportedFormat
}
