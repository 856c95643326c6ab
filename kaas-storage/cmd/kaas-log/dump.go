package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

const dumpHelp = `kaas-log dump DIR/PARTITION [flags]

Shows what a partition's directory holds: its claims, the manifest that counts
with the log start and the recovery point, leader epochs, producers, segments
and the batches in them. With --records every record, too; those of the
coordinator's slots (in __cluster/__coordinator) are JSON and shown as they are.

    kaas-log dump /var/lib/kaas/orders/6b1f…/0
    kaas-log dump /var/lib/kaas/__cluster/__coordinator/17 --records

It makes no claim and changes nothing, and so may be used beside a broker; what
the broker appends or removes meanwhile may then be cut in the middle.
`

// recordLimit bounds what the records of one batch may take in memory, in bytes.
const recordLimit = 256 << 20

// dumper writes one partition.
type dumper struct {
	out     io.Writer
	records bool
	from    int64
	limit   int
}

func dump(args []string, s streams) error {
	d := dumper{out: s.out}
	set := newFlags("dump", dumpHelp, s)
	set.BoolVar(&d.records, "records", false, "show records, too")
	set.Int64Var(&d.from, "from", 0, "`OFFSET` of the first record to be shown")
	set.IntVar(&d.limit, "limit", 0, "`COUNT` of batches to be shown; 0 means all")
	path, err := parse(set, args, "a partition's directory")
	if err != nil {
		return err
	}
	disk, err := vfs.OS(path)
	if err != nil {
		return err
	}
	defer disk.Close()
	dir, err := disk.OpenDir(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	inspection, err := storage.Inspect(dir)
	if corrupt := (*storage.CorruptionError)(nil); errors.As(err, &corrupt) {
		fmt.Fprintln(s.out, "DAMAGED ", err)
		return errBad
	}
	if err != nil {
		return err
	}
	d.summary(path, inspection)
	return d.batches(inspection)
}

func (d *dumper) summary(path string, i *storage.Inspection) {
	line := func(name, format string, values ...any) {
		fmt.Fprintf(d.out, "%-14s"+format+"\n", append([]any{name}, values...)...)
	}
	line("partition", "%s", path)
	line("claims", "%s", orNone(strings.Join(i.Claims, " ")))
	line("manifest", "%s", i.Manifest)
	line("log start", "%d", i.LogStart)
	line("recovery", "offset %d, byte %d of %s", i.Recovery.Offset, i.Recovery.Bytes, orNone(i.Recovery.Segment))
	var epochs []string
	for _, e := range i.LeaderEpochs {
		epochs = append(epochs, fmt.Sprintf("%d from offset %d", e.Epoch, e.First))
	}
	line("leader epochs", "%s", orNone(strings.Join(epochs, ", ")))
	for _, p := range i.Producers {
		line("producer", "%d epoch %d, last sequence %d at offset %d, seen %s", p.ID, p.Epoch, p.LastSequence, p.LastOffset, timeOf(p.LastSeen))
		if p.TransactionStart >= 0 {
			line("", "in a transaction from offset %d", p.TransactionStart)
		}
	}
	for _, name := range i.Garbage {
		line("garbage", "%s", name)
	}
}

func (d *dumper) batches(i *storage.Inspection) error {
	shown := 0
	for number, s := range i.Segments {
		if s.End >= 0 && s.End <= d.from {
			continue
		}
		fmt.Fprintf(d.out, "\nsegment %s, epoch %d, %d bytes of %d\n", s.Name, s.Epoch, s.Valid, s.Bytes)
		for placed, err := range i.Batches(number) {
			if corrupt := (*storage.CorruptionError)(nil); errors.As(err, &corrupt) {
				fmt.Fprintf(d.out, "  at byte %d: %s\n", placed.Position, corrupt.Cause)
				break
			}
			if err != nil {
				return err
			}
			if placed.Batch.LastOffset() < d.from {
				continue
			}
			if shown++; d.limit > 0 && shown > d.limit {
				return nil
			}
			d.batch(placed)
		}
	}
	return nil
}

func (d *dumper) batch(placed storage.PlacedBatch) {
	b := placed.Batch
	text := fmt.Sprintf("  offset %d to %d at byte %d: %d bytes, %d records, epoch %d, %v", b.BaseOffset(), b.LastOffset(), placed.Position, len(b), b.Count(),
		b.LeaderEpoch(), b.Compression())
	if b.ProducerID() >= 0 {
		text += fmt.Sprintf(", producer %d epoch %d sequence %d", b.ProducerID(), b.ProducerEpoch(), b.BaseSequence())
	}
	if b.Transactional() {
		text += ", transactional"
	}
	if b.Control() {
		text += ", control"
	}
	if !b.ValidCRC() {
		text += ", CHECKSUM IS WRONG"
	}
	fmt.Fprintln(d.out, text)
	if !d.records {
		return
	}
	for r, err := range b.Records(nil, batch.SiteTool, recordLimit) {
		if err != nil {
			fmt.Fprintf(d.out, "    cannot be decoded: %v\n", err)
			return
		}
		d.record(b, r)
	}
}

func (d *dumper) record(b batch.Batch, r batch.Record) {
	offset := b.BaseOffset() + int64(r.OffsetDelta)
	if offset < d.from {
		return
	}
	at := timeOf(b.BaseTimestamp() + r.TimestampDelta)
	if b.AppendTime() {
		at = timeOf(b.MaxTimestamp())
	}
	if b.Control() {
		fmt.Fprintf(d.out, "    %d  %s  %s\n", offset, at, marker(r.Key))
		return
	}
	fmt.Fprintf(d.out, "    %d  %s  %s  %s", offset, at, readable(r.Key), readable(r.Value))
	for _, h := range r.Headers {
		fmt.Fprintf(d.out, "  %s=%s", readable([]byte(h.Key)), readable(h.Value))
	}
	fmt.Fprintln(d.out)
}

// marker reads the key of a control record (Kafka's ControlRecordType): version and type as int16.
func marker(key []byte) string {
	if len(key) >= 4 {
		switch {
		case key[2] == 0 && key[3] == 0:
			return "transaction marker: abort"
		case key[2] == 0 && key[3] == 1:
			return "transaction marker: commit"
		}
	}
	return "control record " + readable(key)
}

// readable shows text as it is, so that JSON stays JSON, and everything else quoted.
func readable(b []byte) string {
	switch {
	case b == nil:
		return "null"
	case len(b) == 0:
		return `""`
	case utf8.Valid(b) && !strings.ContainsFunc(string(b), func(r rune) bool { return !unicode.IsPrint(r) }):
		return string(b)
	}
	return strconv.QuoteToASCII(string(b))
}

func timeOf(ms int64) string {
	if ms < 0 {
		return "no time"
	}
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z")
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}
