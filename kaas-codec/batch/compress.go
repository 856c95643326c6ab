package batch

// appendCompressed appends records to dst in the codec.
func appendCompressed(dst, records []byte, codec Compression) ([]byte, error) {
	if codec != None {
		return nil, ErrUnsupportedCompression
	}
	return append(dst, records...), nil
}
