package storage

import (
	"context"
	"errors"
	"math"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage/internal/compaction"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// errOutputFull: what compaction leaves of one file does not fit into one file.
var errOutputFull = errors.New("compacted segment would pass 2 GiB")

// filter writes the outputs, each from as many inputs as fit into one segment (Kafka's groupSegmentsBySize).
func (r *compactionRun) filter(ctx context.Context) error {
	rest := r.inputs
	for len(rest) > 0 {
		n := groupSize(rest, r.p.Config().SegmentBytes)
		if err := r.filterInto(ctx, rest[:n]); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return nil
}

func groupSize(inputs []*segment, limit int64) int {
	bytes := inputs[0].committed.Load()
	n := 1
	for n < len(inputs) {
		bytes += inputs[n].committed.Load()
		if bytes > min(limit, math.MaxInt32) || inputs[n].end.Load()-inputs[0].base > math.MaxInt32 {
			break
		}
		n++
	}
	return n
}

// filterInto writes one output, syncs it and closes it: it is not read before a manifest names it.
func (r *compactionRun) filterInto(ctx context.Context, group []*segment) error {
	first, last := group[0], group[len(group)-1]
	s := newCompacted(r.p.dir, first.base, r.p.claim.epoch, r.generation, fileMissing)
	s.created = last.created
	r.outputs = append(r.outputs, s)
	defer s.log.closeUnused()
	file, err := s.log.acquire()
	if err != nil {
		return s.fail("make segment", err)
	}
	defer s.log.release()
	out := outputWriter{segment: s, file: file, volume: r.p.volume, interval: r.p.Config().IndexInterval}
	for _, input := range group {
		err := r.batches(ctx, input, func(b batch.Batch) error { return r.filterBatch(b, &out) })
		if err != nil {
			return err
		}
	}
	for _, a := range r.aborted.upTo(last.end.Load()) {
		s.aborted.add(a)
	}
	return out.finish(last.end.Load())
}

func (r *compactionRun) filterBatch(b batch.Batch, out *outputWriter) error {
	r.aborted.see(b)
	result, err := r.plan.Filter(b, r.memory)
	switch {
	case err != nil:
		return err
	case (result.Fate == compaction.Dropped || result.Fate == compaction.Emptied) && r.aborted.stays(b):
		return out.add(b)
	case result.Batch == nil:
		return nil
	}
	if &result.Batch[0] != &b[0] {
		r.memory = result.Batch[:0]
	}
	return out.add(result.Batch)
}

// outputChunk is how much is written at once.
const outputChunk = 1 << 20

// outputWriter appends to a file that nobody else knows.
type outputWriter struct {
	segment  *segment
	file     vfs.File
	volume   *Volume
	interval int
	written  int64
	pending  []byte
}

func (w *outputWriter) add(b batch.Batch) error {
	s := w.segment
	if s.size+int64(len(b)) > math.MaxInt32 && s.size > 0 {
		return s.fail("write", errOutputFull)
	}
	s.index.add(offsetEntry{uint32(b.LastOffset() - s.base), uint32(s.size)}, recordTimestamp(b), int64(len(b)), w.interval)
	s.size += int64(len(b))
	w.pending = append(w.pending, b...)
	if len(w.pending) < outputChunk {
		return nil
	}
	return w.flush()
}

func (w *outputWriter) flush() error {
	if len(w.pending) == 0 {
		return nil
	}
	if !w.volume.spare(int64(len(w.pending))) {
		return w.segment.fail("write", ErrStorageFull)
	}
	if _, err := w.file.WriteAt(w.pending, w.written); err != nil {
		return w.segment.fail("write", err)
	}
	w.written += int64(len(w.pending))
	w.pending = w.pending[:0]
	return nil
}

// finish makes the file and its indexes durable, all but their names.
func (w *outputWriter) finish(end int64) error {
	if err := w.flush(); err != nil {
		return err
	}
	s := w.segment
	if err := w.file.Sync(); err != nil {
		return s.fail("sync", err)
	}
	s.index.mark()
	if _, err := s.persistIndexes(end); err != nil {
		return err
	}
	s.reaching.Store(end)
	s.committed.Store(s.size)
	s.end.Store(end)
	return nil
}
