package batch

import "fmt"

// maxRecordErrors bounds the list of bad records in one answer. It is more than a batch of Kafka's
// default size can hold uncompressed, and keeps a compressed bomb of bad records small.
const maxRecordErrors = 1 << 17

const appendTimeMessage = "producers must not set the timestamp type LogAppendTime"

// recordChecker collects what is wrong with single records under the rules.
type recordChecker struct {
	rules   Rules
	errors  []RecordError
	total   int
	untimed int // records with a timestamp out of bounds, among total
}

// check looks at one record: its key first, as Kafka, then its timestamp in milliseconds, which the
// producer may have declared to be an append time.
func (c *recordChecker) check(index int32, key []byte, timestamp int64, appendTime bool) {
	switch {
	case c.rules.Compacted && key == nil:
		c.add(RecordError{Index: index, Message: "a compacted topic takes no record without key"})
	case appendTime && (c.rules.AppendTime || timestamp == NoTimestamp):
		c.untimed++
		c.add(RecordError{Index: index, Message: appendTimeMessage})
	case c.rules.bounded() && !c.rules.inBounds(timestamp):
		c.untimed++
		c.add(RecordError{Index: index, Message: c.timestampMessage(timestamp)})
	}
}

func (c *recordChecker) timestampMessage(timestamp int64) string {
	return fmt.Sprintf("timestamp %d is not between %d and %d", timestamp,
		subtractSaturating(c.rules.Now, c.rules.MaxBefore), addSaturating(c.rules.Now, c.rules.MaxAfter))
}

func (c *recordChecker) add(e RecordError) {
	c.total++
	if len(c.errors) < maxRecordErrors {
		c.errors = append(c.errors, e)
	}
}

// err returns the rejection, nil if all records were good. One bad timestamp decides the code.
func (c *recordChecker) err() error {
	if c.total == 0 {
		return nil
	}
	rejected := &RejectedError{Reason: ErrInvalidRecord, Records: c.errors}
	rejected.Message = fmt.Sprintf("%d records rejected, the first: %s", c.total, c.errors[0].Message)
	if c.untimed > 0 {
		rejected.Reason = ErrInvalidTimestamp
		rejected.Message = "records rejected for their timestamp"
	}
	return rejected
}
