package storage

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// Log is a partition with an engine of its own, for a program that wants a durable log and no broker: records in, records out. Whoever needs
// several logs, tickets, or batches as they are, uses Engine and Partition. It is safe for concurrent use.
type Log struct {
	engine    *Engine
	partition *Partition
	tripwires *batch.Tripwires
}

// Record is what a Log stores.
type Record struct {
	Offset    int64     // given by Append
	Timestamp time.Time // of millisecond precision; zero stands for the time of Append
	Key       []byte    // nil for none
	Value     []byte    // nil for none
	Headers   []batch.Header
}

// LogOption changes how OpenLog opens a log.
type LogOption func(*logOptions)

type logOptions struct {
	engine Options
	config Config
}

// WithOptions sets the options of the log's engine, such as its logger.
func WithOptions(o Options) LogOption { return func(l *logOptions) { l.engine = o } }

// WithConfig replaces DefaultConfig, which keeps records for a week. A negative RetentionAge keeps them for good.
func WithConfig(c Config) LogOption { return func(l *logOptions) { l.config = c } }

// OpenLog opens the log in the directory path of a file system, and makes directory and log when they do not exist. Another process that has
// it open is fenced: its next Append fails with ErrFenced, and nothing that it acknowledged is lost.
//
// Errors: ErrNoManifest where a log has been but its files are lost, ErrFutureVersion, *CorruptionError, ErrFenced when somebody else opens
// it at the same time, *StorageError.
func OpenLog(ctx context.Context, filesystem vfs.FS, path string, opts ...LogOption) (*Log, error) {
	o := logOptions{config: DefaultConfig()}
	for _, opt := range opts {
		opt(&o)
	}
	engine, err := NewEngine(o.engine)
	if err != nil {
		return nil, err
	}
	partition, err := openPath(ctx, engine, filesystem, path, o.config)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open log %s: %w", path, err), engine.Close())
	}
	return &Log{engine: engine, partition: partition, tripwires: o.engine.Tripwires}, nil
}

func openPath(ctx context.Context, e *Engine, filesystem vfs.FS, path string, c Config) (*Partition, error) {
	// Also when it is there: whoever made it may not have come to making its name durable.
	if err := filesystem.MkdirAll(path); err != nil {
		return nil, &StorageError{Op: "make directory", Path: path, Err: err}
	}
	dir, err := filesystem.OpenDir(path)
	if err != nil {
		return nil, &StorageError{Op: "open directory", Path: path, Err: err}
	}
	if err := InitPartition(dir, 0); err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	return e.Take(ctx, dir, TakeOptions{Label: path, Config: c})
}

// Append writes the records together and returns the offset of the first; the others follow it. When it returns nil they are on the
// disk and survive a crash of the machine. The end of ctx ends the wait, not the write: the records may be there afterwards.
func (l *Log) Append(ctx context.Context, records ...Record) (first int64, err error) {
	builder := batch.NewBuilder()
	for _, r := range records {
		if r.Timestamp.IsZero() {
			r.Timestamp = time.Now()
		}
		builder.Add(r.Timestamp.UnixMilli(), r.Key, r.Value, r.Headers...)
	}
	b, err := builder.Build()
	if err != nil {
		return 0, fmt.Errorf("append: %w", err)
	}
	ticket, err := l.partition.Append(b, AppendOptions{})
	if err != nil {
		return 0, err
	}
	return ticket.Result().BaseOffset, ticket.WaitDurable(ctx)
}

// Bounds returns the first offset that can be read and the one behind the last.
func (l *Log) Bounds() (start, end int64) {
	o := l.partition.Offsets()
	return o.LogStart, o.HighWatermark
}

// Read ranges over the records from an offset to the end of the log as it is when the range comes to it. An offset below the
// start or above the end is ErrOffsetOutOfRange. An error is the last thing yielded. Records may be kept.
func (l *Log) Read(from int64) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		if _, err := l.readOn(from, yield); err != nil && !errors.Is(err, errStopped) {
			yield(Record{}, err)
		}
	}
}

// Follow is Read that waits at the end of the log for more, until ctx ends or the log is closed or fenced. It always ends
// with an error: what ctx says, ErrClosed, ErrFenced, or what went wrong.
func (l *Log) Follow(ctx context.Context, from int64) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		moved := make(chan struct{}, 1)
		stop := l.partition.Watch(moved)
		defer stop()
		for {
			next, err := l.readOn(from, yield)
			switch {
			case errors.Is(err, errStopped):
				return
			case err != nil:
				yield(Record{}, err)
				return
			}
			from = next
			select {
			case <-moved:
			case <-l.partition.Done(): // maybe before the watch began
			case <-ctx.Done():
				yield(Record{}, context.Cause(ctx))
				return
			}
			if err := l.partition.Err(); err != nil {
				yield(Record{}, err)
				return
			}
		}
	}
}

// errStopped: the loop over a range has ended it.
var errStopped = errors.New("range stopped")

// readSize is how much of a file is read at a time.
const readSize = 256 << 10

// readOn yields the records from an offset to the watermark and returns the offset to go on at.
func (l *Log) readOn(from int64, yield func(Record, error) bool) (int64, error) {
	for {
		section, err := l.partition.Read(from, ReadOptions{MaxBytes: readSize, AtLeastOneBatch: true})
		if err != nil || section == nil {
			return from, err
		}
		data := make([]byte, section.Size())
		_, err = section.ReadAt(data, 0)
		section.Release()
		if err != nil {
			return from, fmt.Errorf("read at offset %d: %w", from, err)
		}
		if from, err = l.decode(data, from, yield); err != nil {
			return from, err
		}
	}
}

// decode yields the records of whole batches; the last batch of a section may be cut.
func (l *Log) decode(data []byte, from int64, yield func(Record, error) bool) (int64, error) {
	for {
		b, rest, err := batch.Next(data)
		if errors.Is(err, batch.ErrTruncated) {
			return from, nil
		}
		if err == nil && !b.ValidCRC() {
			err = batch.ErrMalformed
		}
		if err != nil {
			return from, &CorruptionError{Dir: l.partition.dir.Path(), File: l.partition.label, Offset: -1, Cause: fmt.Sprintf("batch at offset %d: %v", from, err)}
		}
		if !b.Control() {
			if err := l.yieldBatch(b, from, yield); err != nil {
				return from, err
			}
		}
		from, data = b.LastOffset()+1, rest
	}
}

func (l *Log) yieldBatch(b batch.Batch, from int64, yield func(Record, error) bool) error {
	for r, err := range b.Records(l.tripwires, batch.SiteTool, 0) {
		if err != nil {
			return fmt.Errorf("batch at offset %d: %w", b.BaseOffset(), err)
		}
		timestamp := b.BaseTimestamp() + r.TimestampDelta
		if b.AppendTime() {
			timestamp = b.MaxTimestamp()
		}
		record := Record{Offset: b.BaseOffset() + int64(r.OffsetDelta), Timestamp: time.UnixMilli(timestamp), Key: r.Key, Value: r.Value, Headers: r.Headers}
		if record.Offset >= from && !yield(record, nil) {
			return errStopped
		}
	}
	return nil
}

// Partition gives access to all that the engine offers: tickets, offsets by timestamp, deleting records.
func (l *Log) Partition() *Partition { return l.partition }

// Close makes everything durable and closes the log, so that opening it again has nothing to repair; ctx bounds the wait. After an error the
// log is closed too, and what was acknowledged is safe.
func (l *Log) Close(ctx context.Context) error {
	return errors.Join(l.partition.Handover(ctx), l.engine.Close())
}
