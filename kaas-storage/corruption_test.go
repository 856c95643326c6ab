package storage_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// names lists the partition's directory.
func (b *bench) names() []string {
	b.t.Helper()
	dir := b.dir()
	defer dir.Close()
	entries, err := dir.List()
	must(b.t, err)
	names := make([]string, 0, len(entries))
	for _, entry := range entries {
		names = append(names, entry.Name)
	}
	return names
}

// logs lists the names of the log files in order.
func (b *bench) logs() []string {
	return slices.DeleteFunc(b.names(), func(name string) bool { return !strings.HasSuffix(name, ".log") })
}

func (b *bench) remove(name string) {
	b.t.Helper()
	dir := b.dir()
	defer dir.Close()
	must(b.t, dir.Remove(name))
}

// flip inverts one byte of a file; a negative position counts from the end.
func (b *bench) flip(name string, position int64) {
	b.t.Helper()
	dir := b.dir()
	defer dir.Close()
	file, err := dir.OpenWrite(name)
	must(b.t, err)
	defer file.Close()
	if position < 0 {
		size, err := file.Size()
		must(b.t, err)
		position += size
	}
	one := make([]byte, 1)
	_, err = file.ReadAt(one, position)
	must(b.t, err)
	one[0] ^= 0xff
	_, err = file.WriteAt(one, position)
	must(b.t, err)
}

// write makes a file of the partition's directory.
func (b *bench) write(name, content string) {
	b.t.Helper()
	dir := b.dir()
	defer dir.Close()
	file, err := dir.Create(name)
	must(b.t, err)
	_, err = file.WriteAt([]byte(content), 0)
	must(b.t, err)
	must(b.t, file.Close())
}

// closedLog makes a log of n one-record batches, each in a segment of its own, and hands it over.
func closedLog(t *testing.T, n int) *bench {
	t.Helper()
	b := newBench(t, vfs.NewMem(16<<20), storage.Options{RetentionInterval: -1})
	b.config.SegmentBytes = 1
	p := b.take()
	for i := range n {
		appendDurable(t, p, records(t, fmt.Sprint("r", i), 1, int64(1000+i)))
	}
	must(t, p.Handover(context.Background()))
	<-p.Closed()
	return b
}

func isCorruption(err error) bool {
	var corruption *storage.CorruptionError
	return errors.As(err, &corruption)
}

func TestMissingSegmentIsAnError(t *testing.T) {
	cases := map[string]struct {
		segment  int
		atReopen bool
		read     int64
	}{
		"first":  {segment: 0, atReopen: true},
		"middle": {segment: 2, read: 2},
		"last":   {segment: 4, atReopen: true},
	}
	for name, c := range cases {
		for _, takeovers := range []int{0, 2} { // as the open epoch, and as one of the chain
			t.Run(fmt.Sprintf("%s after %d takeovers", name, takeovers), func(t *testing.T) {
				b := closedLog(t, 5)
				for range takeovers {
					p := b.take()
					must(t, p.Handover(context.Background()))
					<-p.Closed()
				}
				b.remove(b.logs()[c.segment])
				p, err := b.engine.Take(context.Background(), b.dir(), storage.TakeOptions{Label: "p", Config: b.config})
				if c.atReopen {
					if !isCorruption(err) {
						t.Fatalf("takeover: %v", err)
					}
					return
				}
				must(t, err)
				if section, err := p.Read(c.read, storage.ReadOptions{MaxBytes: 1000}); !isCorruption(err) {
					t.Fatalf("read of what is missing: %v, %v", section, err)
				}
			})
		}
	}
}

func TestDamagedHeaderBelowTheRecoveryPointIsAnError(t *testing.T) {
	for name, at := range map[string]int64{"base offset": 0, "length": 8, "length, low byte": 11, "magic": 16, "last offset delta": 23} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, vfs.NewMem(16<<20), storage.Options{})
			p := b.take()
			appendDurable(t, p, records(t, "a", 2, 1000))
			appendDurable(t, p, records(t, "b", 2, 2000))
			must(t, p.Handover(context.Background()))
			b.flip(b.logs()[0], at)
			p = b.take()
			if section, err := p.Read(3, storage.ReadOptions{MaxBytes: 1 << 20}); !isCorruption(err) {
				t.Fatalf("read over a damaged header: %v, %v", section, err)
			}
		})
	}
}

func TestDamagedTailIsCut(t *testing.T) {
	b := newBench(t, vfs.NewMem(16<<20), storage.Options{})
	p := b.take()
	for _, tag := range []string{"a", "b", "c"} {
		appendDurable(t, p, records(t, tag, 1, 1000))
	}
	p.Abandon()
	<-p.Closed()
	b.flip(b.logs()[0], -1) // what was never made part of a recovery point ends at the first batch that is not whole
	p = b.take()
	if got := fmt.Sprint(readAll(t, p, 0)); got != "[a-0 b-0]" {
		t.Fatalf("read %s", got)
	}
	if r := appendDurable(t, p, records(t, "d", 1, 1000)); r.BaseOffset != 2 {
		t.Fatalf("next offset %d", r.BaseOffset)
	}
}

func TestTruncatedFileBelowTheRecoveryPointIsAnError(t *testing.T) {
	b := newBench(t, vfs.NewMem(16<<20), storage.Options{})
	p := b.take()
	appendDurable(t, p, records(t, "a", 2, 1000))
	must(t, p.Handover(context.Background()))
	<-p.Closed()
	name := b.logs()[0]
	b.remove(name)
	b.write(name, "short")
	if _, err := b.engine.Take(context.Background(), b.dir(), storage.TakeOptions{Label: "p", Config: b.config}); !isCorruption(err) {
		t.Fatalf("takeover: %v", err)
	}
}

func TestLostIndexesAreDoneWithout(t *testing.T) {
	for name, damage := range map[string]func(b *bench, index string){
		"removed": func(b *bench, index string) { b.remove(index) },
		"short":   func(b *bench, index string) { b.remove(index); b.write(index, "abc") },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, vfs.NewMem(16<<20), storage.Options{})
			b.config.IndexInterval = 1
			p := b.take()
			var want []string
			for i := range 10 {
				tag := fmt.Sprint("r", i)
				appendDurable(t, p, records(t, tag, 1, int64(1000+i)))
				want = append(want, tag+"-0")
			}
			must(t, p.Handover(context.Background()))
			<-p.Closed()
			for _, file := range b.names() {
				if strings.HasSuffix(file, "index") {
					damage(b, file)
				}
			}
			p = b.take()
			if got := readAll(t, p, 0); !slices.Equal(got, want) {
				t.Fatalf("read %v", got)
			}
			found, err := p.OffsetForTimestamp(context.Background(), 1004, 10)
			if err != nil || found.Offset != 4 {
				t.Fatalf("lookup: %+v, %v", found, err)
			}
		})
	}
}

func TestStrangersInTheDirectoryAreIgnored(t *testing.T) {
	b := newBench(t, vfs.NewMem(16<<20), storage.Options{})
	for _, name := range []string{
		".nfs0000000000000001", "README", "leader.", "leader.zz", "leader.0000000G", "leader.90000000", "manifest.FFFFFFFF", "manifest.00000009.bak",
		"-0000000000000000000.00000001.log", "+0000000000000000000.00000001.log", "00000000000000000000.log", "00000000000000000000.00000001.lock",
		"00000000000000000000.00000001", "99999999999999999999.00000001.log", "leader.00000007",
	} {
		b.write(name, "not ours")
	}
	for _, name := range []string{"lost+found", ".snapshot", "manifest.00000005", "00000000000000000000.00000001.log", "00000000000000000000.00000005.index"} {
		must(t, b.fs.MkdirAll("p/"+name))
	}
	for i := range 3 {
		p := b.take()
		if i == 0 && p.Epoch() != 1 {
			t.Fatalf("epoch %d", p.Epoch())
		}
		if i == 1 {
			continue // leaves an epoch without records
		}
		_, err := p.Append(records(t, "a", 1, 1), storage.AppendOptions{})
		must(t, err)
		p.Abandon()
	}
}
