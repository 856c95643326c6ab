package storage_test

import (
	"fmt"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage"
)

// readLog reads all records with the epochs of their batches.
func readLog(p *storage.Partition) ([]promise, error) {
	var found []promise
	offset := p.Offsets().LogStart
	for offset < p.Offsets().HighWatermark {
		section, err := p.Read(offset, storage.ReadOptions{MaxBytes: 1 << 20, AtLeastOneBatch: true})
		if err != nil {
			return nil, err
		}
		if section == nil {
			return nil, fmt.Errorf("nothing at offset %d below the watermark %d", offset, p.Offsets().HighWatermark)
		}
		data := make([]byte, section.Size())
		_, err = section.ReadAt(data, 0)
		section.Release()
		if err != nil {
			return nil, err
		}
		if found, offset, err = decodeRun(found, data, offset); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func decodeRun(found []promise, data []byte, offset int64) ([]promise, int64, error) {
	for len(data) > 0 {
		b, rest, err := batch.Next(data)
		if err != nil {
			return nil, 0, err
		}
		data = rest
		if !b.ValidCRC() {
			return nil, 0, fmt.Errorf("bad checksum at offset %d", b.BaseOffset())
		}
		for record, err := range b.Records(nil, batch.SiteTool, 1<<30) {
			if err != nil {
				return nil, 0, err
			}
			at := b.BaseOffset() + int64(record.OffsetDelta)
			if at > offset {
				return nil, 0, fmt.Errorf("offset %d follows %d", at, offset)
			}
			if at == offset {
				found = append(found, promise{string(record.Value), storage.Epoch(b.LeaderEpoch())})
				offset++
			}
		}
	}
	return found, offset, nil
}

// foundDirectly asks for one offset, which the indexes find without reading from the beginning.
func foundDirectly(p *storage.Partition, offset int64) error {
	section, err := p.Read(offset, storage.ReadOptions{MaxBytes: 1, AtLeastOneBatch: true})
	if err != nil {
		return err
	}
	if section == nil {
		return fmt.Errorf("nothing is found at offset %d", offset)
	}
	defer section.Release()
	data := make([]byte, section.Size())
	if _, err := section.ReadAt(data, 0); err != nil {
		return err
	}
	b, _, err := batch.Next(data)
	if err == nil && (b.BaseOffset() > offset || b.LastOffset() < offset) {
		err = fmt.Errorf("a batch of offsets %d to %d is found at offset %d", b.BaseOffset(), b.LastOffset(), offset)
	}
	return err
}
