package storage_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/storagetest"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// abortedLog makes a log with n aborted transactions, ends its leadership in good order, and returns the names of its transaction indexes.
func abortedLog(t testing.TB, segmentBytes int64, n int) (*bench, []string) {
	t.Helper()
	b := newBench(t, vfs.NewMem(16<<20), storage.Options{RetentionInterval: -1})
	b.config.SegmentBytes = segmentBytes
	p := b.take()
	for id := range int64(n) {
		must(t, sendTransactional(t, p, id, 0).WaitDurable(context.Background()))
		must(t, sendMarker(t, p, id, false, 1).WaitDurable(context.Background()))
	}
	must(t, p.Handover(context.Background()))
	<-p.Closed()
	var names []string
	for _, name := range b.names() {
		if strings.HasSuffix(name, ".txnindex") {
			names = append(names, name)
		}
	}
	return b, names
}

func (b *bench) content(name string) []byte {
	b.t.Helper()
	dir := b.dir()
	defer dir.Close()
	data, err := vfs.ReadFile(dir, name, 1<<20)
	must(b.t, err)
	return data
}

func (b *bench) tryTake() (*storage.Partition, error) {
	b.t.Helper()
	return b.engine.Take(context.Background(), b.dir(), storage.TakeOptions{Label: "p", Config: b.config})
}

// The layout is Kafka's: its dump tool reads it.
func TestTransactionIndexLayout(t *testing.T) {
	b, names := abortedLog(t, 1<<20, 2)
	if len(names) != 1 || names[0] != "00000000000000000000.00000001.txnindex" {
		t.Fatalf("files: %v", names)
	}
	var want []byte
	for _, entry := range [][4]int64{{0, 0, 1, 2}, {1, 2, 3, 4}} {
		want = append(want, 0, 0)
		for _, field := range entry {
			want = binary.BigEndian.AppendUint64(want, uint64(field))
		}
	}
	if got := b.content(names[0]); !bytes.Equal(got, want) {
		t.Fatalf("%x, want %x", got, want)
	}
}

// What was durable and is not there any more is an error: a reader would be given what was aborted.
func TestLostTransactionIndexIsAnError(t *testing.T) {
	cut := func(n int) func(b *bench, name string) {
		return func(b *bench, name string) {
			data := b.content(name)
			b.remove(name)
			b.write(name, string(data[:len(data)-n]))
		}
	}
	cases := map[string]struct {
		segment int64
		file    int // of the indexes, from the end
		damage  func(b *bench, name string)
		atTake  bool
	}{
		"removed":                        {1 << 20, 0, func(b *bench, name string) { b.remove(name) }, true},
		"shorter by an entry":            {1 << 20, 0, cut(34), true},
		"shorter by a byte":              {1 << 20, 0, cut(1), true},
		"closed segment, by a byte":      {1, 1, cut(1), true},
		"version":                        {1 << 20, 0, func(b *bench, name string) { b.flip(name, 1) }, false},
		"negative offset":                {1 << 20, 0, func(b *bench, name string) { b.flip(name, 10) }, false},
		"marker of another segment":      {1 << 20, 0, func(b *bench, name string) { b.flip(name, 18+6) }, false},
		"a closed segment's, of another": {1, 1, func(b *bench, name string) { b.flip(name, 18+6) }, false},
		"stable behind the marker":       {1 << 20, 0, func(b *bench, name string) { b.flip(name, 26+6) }, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b, names := abortedLog(t, c.segment, 3)
			c.damage(b, names[len(names)-1-c.file])
			p, err := b.tryTake()
			if c.atTake {
				if !isCorruption(err) || !strings.Contains(err.Error(), ".txnindex") {
					t.Fatalf("takeover: %v", err)
				}
				return
			}
			must(t, err)
			if found, err := p.AbortedIn(0, 6); !isCorruption(err) || !strings.Contains(err.Error(), ".txnindex") {
				t.Fatalf("aborted: %+v, %v", found, err)
			}
		})
	}
}

// What a zombie appends to its index behind what counts is not read.
func TestEntriesBehindTheCountAreNotRead(t *testing.T) {
	b, names := abortedLog(t, 1<<20, 2)
	data := b.content(names[0])
	b.remove(names[0])
	b.write(names[0], string(data)+string(data[:50]))
	for range 2 {
		p := b.take()
		must(t, storagetest.CheckTransactions(p))
		must(t, p.Handover(context.Background()))
		<-p.Closed()
	}
}

// The files go with their segments.
func TestTransactionIndexesAreRemoved(t *testing.T) {
	synctest.Test(t, testTransactionIndexesAreRemoved)
}

func testTransactionIndexesAreRemoved(t *testing.T) {
	b, names := abortedLog(t, 1, 3)
	if len(names) != 3 {
		t.Fatalf("files: %v", names)
	}
	p := b.take()
	_, err := p.DeleteRecords(context.Background(), 4)
	must(t, err)
	must(t, storagetest.CheckTransactions(p))
	synctest.Wait()
	var left []string
	for _, name := range b.names() {
		if strings.HasSuffix(name, ".txnindex") {
			left = append(left, name)
		}
	}
	if len(left) != 1 || left[0] != names[2] {
		t.Fatalf("files: %v", left)
	}
}

// FuzzTransactionIndex replaces the transaction index: what is then listed overlaps what was asked for and ends in the log, or there is an error.
func FuzzTransactionIndex(f *testing.F) {
	b, names := abortedLog(f, 1<<20, 3)
	good := b.content(names[0])
	f.Add(good, int64(0), int64(6))
	f.Add(good[:40], int64(1), int64(2))
	f.Add(append(append([]byte(nil), good[34:]...), good...), int64(0), int64(1))
	f.Add(make([]byte, 102), int64(-5), int64(1<<62))
	f.Fuzz(func(t *testing.T, content []byte, from, to int64) {
		b, names := abortedLog(t, 1<<20, 3)
		b.remove(names[0])
		b.write(names[0], string(content))
		p, err := b.tryTake()
		if err != nil {
			if !isCorruption(err) {
				t.Fatal(err)
			}
			return
		}
		found, err := p.AbortedIn(from, to)
		if err != nil && !isCorruption(err) {
			t.Fatal(err)
		}
		for _, a := range found {
			if a.LastOffset < from || a.FirstOffset >= to || a.FirstOffset < 0 || a.LastOffset >= 6 {
				t.Fatalf("%+v in [%d, %d)", a, from, to)
			}
		}
	})
}
