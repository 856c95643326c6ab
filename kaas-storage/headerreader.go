package storage

import (
	"encoding/binary"
	"errors"
	"io"
	"sync"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

// headerChunk is how much is read to look at batch headers: about the distance between two index entries.
const headerChunk = 4 << 10

// lengthAt and lengthOverhead locate the batch length in a header, which leaves out the base offset and itself. Files hold only magic 2.
const (
	lengthAt       = 8
	lengthOverhead = 12
	magicAt        = 16
	magic          = 2
)

// batchSize reads the size of a whole batch from its header.
func batchSize(header []byte) int64 {
	return int64(int32(binary.BigEndian.Uint32(header[lengthAt:]))) + lengthOverhead
}

// headerReader looks at the headers of consecutive batches without reading their records.
type headerReader struct {
	file  io.ReaderAt
	limit int64 // bytes of the file that count
	buf   []byte
	at    int64
}

func newHeaderReader(file io.ReaderAt, limit int64) *headerReader {
	return new(headerReader).reset(file, limit)
}

// reset makes a reader of another file out of a used one.
func (r *headerReader) reset(file io.ReaderAt, limit int64) *headerReader {
	if r.buf == nil {
		r.buf = make([]byte, 0, headerChunk)
	}
	r.file, r.limit, r.buf, r.at = file, limit, r.buf[:0], 0
	return r
}

// headerReaders keeps readers for the next look.
type headerReaders struct{ pool sync.Pool }

func (h *headerReaders) take(file io.ReaderAt, limit int64) *headerReader {
	r, found := h.pool.Get().(*headerReader)
	if !found {
		r = new(headerReader)
	}
	return r.reset(file, limit)
}

func (h *headerReaders) give(r *headerReader) {
	r.file = nil
	h.pool.Put(r)
}

// header returns the header of the batch at pos and the batch's size; io.EOF at the limit. The view is valid until the next call.
func (r *headerReader) header(pos int64) (batch.Batch, int64, error) {
	if pos >= r.limit {
		return nil, 0, io.EOF
	}
	if pos+batch.HeaderSize > r.limit {
		return nil, 0, batch.ErrMalformed
	}
	if pos < r.at || pos+batch.HeaderSize > r.at+int64(len(r.buf)) {
		if err := r.fill(pos); err != nil {
			return nil, 0, err
		}
	}
	view := batch.Batch(r.buf[pos-r.at:][:batch.HeaderSize])
	size := batchSize(view)
	if size < batch.HeaderSize || pos+size > r.limit || view.LastOffsetDelta() < 0 || view.BaseOffset() < 0 || view[magicAt] != magic {
		return nil, 0, batch.ErrMalformed
	}
	return view, size, nil
}

func (r *headerReader) fill(pos int64) error {
	want := min(int64(cap(r.buf)), r.limit-pos)
	n, err := r.file.ReadAt(r.buf[:want], pos)
	if int64(n) < want {
		if err == nil || errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	r.buf, r.at = r.buf[:want], pos
	return nil
}
