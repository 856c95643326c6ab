package api

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/kaas-rs/kaas/kaas-broker/internal/fetchsession"
	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage"
)

// readConverted reads for a client that knows only message sets: magic 0 in v0 and v1, magic 1 in v2 and v3. Control batches have no equal there: a
// section of nothing else is passed over, for a client that got nothing would ask for it again for ever.
func (c *fetchCall) readConverted(ctx context.Context, row *fetchRow, wanted *fetchsession.Wanted, o storage.ReadOptions) error {
	magic := int8(0)
	if c.request.Version >= fetchWithMagic1 {
		magic = 1
	}
	for offset := wanted.Offset; ; {
		section, err := row.partition.Read(offset, o)
		if err != nil {
			return err
		}
		if section == nil {
			return row.ended()
		}
		data, err := sectionBytes(section)
		section.Release()
		if err != nil {
			return err
		}
		converted, next, err := c.convertDown(ctx, data, magic, wanted.Offset)
		if err != nil {
			return err
		}
		if len(converted) > 0 {
			row.section, row.size = memorySection(converted), len(converted)
			row.full = len(data) >= int(wanted.MaxBytes)
			return nil
		}
		offset = next
	}
}

// convertDown converts the whole batches at the beginning of data and returns the offset behind them. Of a first batch that is cut the cut bytes are
// returned as they are: its first fields are laid out alike in all formats, so the client sees a message that does not fit its limit, and raises it.
func (c *fetchCall) convertDown(ctx context.Context, data []byte, magic int8, from int64) (converted []byte, next int64, err error) {
	whole, compressed := 0, false
	for rest := data; len(rest) > 0; {
		b, after, err := batch.Next(rest)
		if errors.Is(err, batch.ErrTruncated) && whole > 0 {
			break
		}
		if errors.Is(err, batch.ErrTruncated) {
			return data, next, nil
		}
		if err != nil {
			return nil, 0, err
		}
		if b.Compression() == batch.Zstd && whole > 0 {
			break // what comes before it can be read
		}
		next, compressed = b.LastOffset()+1, compressed || b.Compression() != batch.None
		whole, rest = whole+len(b), after
	}
	if compressed {
		release, err := c.handlers.decodes.takeLarge(ctx)
		if err != nil {
			return nil, 0, err
		}
		defer release()
	}
	converted, err = batch.DownConvertFrom(data[:whole], magic, from, c.handlers.Tripwires)
	return converted, next, err
}

func sectionBytes(section *storage.Section) ([]byte, error) {
	data := make([]byte, section.Size())
	if _, err := section.ReadAt(data, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, &storage.StorageError{Op: "read log", Path: "section", Err: err}
	}
	return data, nil
}

// memorySection is a section that lies in memory.
type memorySection []byte

func (s memorySection) Size() int64 { return int64(len(s)) }

func (s memorySection) ReadAt(p []byte, offset int64) (int, error) {
	if offset < 0 || offset >= int64(len(s)) {
		return 0, io.EOF
	}
	n := copy(p, s[offset:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (s memorySection) File() (file *os.File, offset int64, ok bool) { return nil, 0, false }

func (s memorySection) Release() {}
