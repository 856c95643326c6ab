package storage_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// sizes of the partition's log files, in order.
func (b *bench) sizes() []int64 {
	b.t.Helper()
	dir := b.dir()
	defer dir.Close()
	var sizes []int64
	for _, name := range b.logs() {
		entry, err := dir.Stat(name)
		must(b.t, err)
		sizes = append(sizes, entry.Size)
	}
	return sizes
}

// extensions counts what a file system is asked for.
type extensions struct{ extend, truncate int }

func (e *extensions) note(op vfs.Op) error {
	switch {
	case op.After:
	case op.Kind == vfs.OpExtend:
		e.extend++
	case op.Kind == vfs.OpTruncate:
		e.truncate++
	}
	return nil
}

// Small appends find zeros to write over most of the time, and a log that holds little is little longer than that.
func TestSmallAppendsExtendTheirFile(t *testing.T) {
	asked := new(extensions)
	b := newBench(t, vfs.NewFault(vfs.NewCrash(64<<20), asked.note), storage.Options{RetentionInterval: -1})
	p := b.take()
	defer p.Abandon()
	for i := range 1000 {
		appendDurable(t, p, records(t, strings.Repeat("x", 1000), 1, int64(i)))
		if held, size := p.Size(), b.sizes()[0]; size > 2*held+4<<10 || size > held+260<<10 {
			t.Fatalf("%d bytes are %d in the file", held, size)
		}
	}
	if asked.extend < 5 || asked.extend > 20 || asked.truncate != 0 {
		t.Errorf("%+v for 1,000 appends of 1 KB", asked)
	}
}

func TestLargeAppendsWriteNoZeros(t *testing.T) {
	asked := new(extensions)
	b := newBench(t, vfs.NewFault(vfs.NewCrash(64<<20), asked.note), storage.Options{RetentionInterval: -1})
	p := b.take()
	defer p.Abandon()
	for i := range 10 {
		appendDurable(t, p, records(t, strings.Repeat("x", 40_000), 1, int64(i)))
	}
	if asked.extend != 0 || b.sizes()[0] != p.Size() {
		t.Errorf("%+v, a file of %v bytes for %d", asked, b.sizes(), p.Size())
	}
}

// A file system that gains nothing is asked once for each segment: over a network the question is a call of its own.
func TestExtensionIsRefusedOnce(t *testing.T) {
	asked := new(extensions)
	b := newBench(t, vfs.NewFault(vfs.NewMem(64<<20), asked.note), storage.Options{RetentionInterval: -1})
	p := b.take()
	defer p.Abandon()
	for i := range 10 {
		appendDurable(t, p, records(t, "x", 1, int64(i)))
	}
	if asked.extend != 1 || asked.truncate != 0 {
		t.Errorf("%+v for 10 appends", asked)
	}
}

// What is not synced at once would gain nothing.
func TestPageCacheTopicsWriteNoZeros(t *testing.T) {
	asked := new(extensions)
	b := newBench(t, vfs.NewFault(vfs.NewCrash(64<<20), asked.note), storage.Options{RetentionInterval: -1})
	b.config.FlushMessages = 1000
	p := b.take()
	defer p.Abandon()
	for i := range 10 {
		appendDurable(t, p, records(t, "x", 1, int64(i)))
	}
	if asked.extend != 0 {
		t.Errorf("%+v", asked)
	}
}

// The zeros are nobody's business: not a reader's, not the next leader's, who warns of real leftovers only, and not of whoever verifies the log. A segment
// that another one follows ends with its last batch.
func TestZerosAheadAreNoPartOfTheLog(t *testing.T) {
	var logged bytes.Buffer
	disk := vfs.NewCrash(64 << 20)
	b := newBench(t, disk, storage.Options{RetentionInterval: -1, Logger: zerolog.New(&logged).Level(zerolog.WarnLevel)})
	b.config.SegmentBytes = 1000
	var want []string
	for round, end := range []func(p *storage.Partition){
		func(p *storage.Partition) { p.Abandon() },
		func(p *storage.Partition) { must(t, p.Handover(context.Background())) },
		func(p *storage.Partition) { b.fs = disk.PowerCut(vfs.SurviveNone) },
	} {
		p := b.take()
		for i := range 23 {
			appendDurable(t, p, records(t, "r", 1, int64(i)))
			want = append(want, "r-0")
		}
		sizes := b.sizes()
		if last := sizes[len(sizes)-1]; last != b.config.SegmentBytes {
			t.Errorf("the last of %v is not as long as a segment may be", sizes)
		}
		if round == 0 && (len(sizes) != 2 || sizes[0] >= p.Size() || sizes[0] >= b.config.SegmentBytes) {
			t.Errorf("the first of %v has zeros, the log has %d bytes", sizes, p.Size())
		}
		if got := readAll(t, p, 0); strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("read %d of %d records: %v", len(got), len(want), got)
		}
		if found := b.findings(); len(found) > 0 {
			t.Errorf("verify finds %v while it is led", found)
		}
		end(p)
		if found := b.findings(); len(found) > 0 {
			t.Errorf("verify finds %v", found)
		}
	}
	if logged.Len() > 0 {
		t.Errorf("logged %s", &logged)
	}
}

// What a crash leaves behind the batches is told, also when it lies in front of zeros.
func TestLeftoversInFrontOfZeros(t *testing.T) {
	var logged bytes.Buffer
	b := newBench(t, vfs.NewCrash(64<<20), storage.Options{RetentionInterval: -1, Logger: zerolog.New(&logged).Level(zerolog.WarnLevel)})
	p := b.take()
	appendDurable(t, p, records(t, "r", 1, 0))
	end := p.Size()
	p.Abandon()
	dir := b.dir()
	defer dir.Close()
	file, err := dir.OpenWrite(b.logs()[0])
	must(t, err)
	defer file.Close()
	_, err = file.WriteAt([]byte{0, 0, 0, 1}, end+4) // of an offset, and nothing of what follows it
	must(t, err)
	if found := b.findings(); len(found) != 1 || found[0].Damage || found[0].Offset != end {
		t.Errorf("verify finds %v, the log ends at %d", found, end)
	}
	b.take().Abandon()
	if !strings.Contains(logged.String(), "behind the last valid batch") {
		t.Errorf("logged %q", &logged)
	}
}
