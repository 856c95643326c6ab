package storage_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

func openLog(t *testing.T, filesystem vfs.FS, opts ...storage.LogOption) *storage.Log {
	t.Helper()
	log, err := storage.OpenLog(context.Background(), filesystem, "data/orders", opts...)
	must(t, err)
	return log
}

func TestLogKeepsRecords(t *testing.T) {
	filesystem := vfs.NewMem(16 << 20)
	log := openLog(t, filesystem)
	at := time.UnixMilli(1234567890123)
	want := []storage.Record{
		{Key: []byte("k"), Value: []byte("v"), Timestamp: at, Headers: []batch.Header{{Key: "h", Value: []byte("x")}}},
		{Offset: 1, Value: []byte("no key"), Timestamp: at.Add(time.Millisecond)},
		{Offset: 2, Key: []byte("no value"), Timestamp: at},
	}
	first, err := log.Append(context.Background(), want[:2]...)
	must(t, err)
	second, err := log.Append(context.Background(), want[2])
	must(t, err)
	if first != 0 || second != 2 {
		t.Fatalf("offsets %d, %d", first, second)
	}
	must(t, log.Close(context.Background()))
	log = openLog(t, filesystem)
	defer log.Close(context.Background())
	for from := range int64(4) {
		var got []storage.Record
		for r, err := range log.Read(from) {
			must(t, err)
			got = append(got, r)
		}
		if fmt.Sprint(got) != fmt.Sprint(want[from:]) {
			t.Errorf("from %d: %v, want %v", from, got, want[from:])
		}
	}
	if start, end := log.Bounds(); start != 0 || end != 3 {
		t.Errorf("bounds %d, %d", start, end)
	}
	for _, err := range log.Read(4) {
		if !errors.Is(err, storage.ErrOffsetOutOfRange) {
			t.Errorf("read above the end: %v", err)
		}
	}
	if _, err := log.Append(context.Background()); err == nil {
		t.Error("no error for no records")
	}
}

func TestStoppingALoopOverALog(t *testing.T) {
	log := openLog(t, vfs.NewMem(16<<20))
	defer log.Close(context.Background())
	for i := range 3 {
		_, err := log.Append(context.Background(), storage.Record{Value: fmt.Append(nil, i)}, storage.Record{})
		must(t, err)
	}
	for name, records := range map[string]func(yield func(storage.Record, error) bool){"read": log.Read(0), "follow": log.Follow(context.Background(), 0)} {
		seen := 0
		for _, err := range records {
			must(t, err)
			if seen++; seen == 3 {
				break
			}
		}
		if seen != 3 {
			t.Errorf("%s: %d records", name, seen)
		}
	}
}

func TestFollowWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		filesystem := vfs.NewMem(16 << 20)
		log := openLog(t, filesystem)
		got := make(chan string, 10)
		ended := make(chan error, 1)
		go func() {
			for r, err := range log.Follow(context.Background(), 0) {
				if err != nil {
					ended <- err
					return
				}
				got <- string(r.Value)
			}
		}()
		for i := range 3 {
			time.Sleep(time.Minute)
			_, err := log.Append(context.Background(), storage.Record{Value: fmt.Append(nil, i)})
			must(t, err)
			if value := <-got; value != fmt.Sprint(i) {
				t.Fatalf("followed %s", value)
			}
		}
		must(t, log.Close(context.Background()))
		if err := <-ended; !errors.Is(err, storage.ErrClosed) {
			t.Fatalf("follow ended with %v", err)
		}
	})
}

func TestFollowOfAClosedLogEnds(t *testing.T) {
	log := openLog(t, vfs.NewMem(16<<20))
	must(t, log.Close(context.Background()))
	for _, err := range log.Follow(context.Background(), 0) {
		if !errors.Is(err, storage.ErrClosed) {
			t.Fatalf("follow ended with %v", err)
		}
	}
}

func TestFollowEndsWithItsContext(t *testing.T) {
	log := openLog(t, vfs.NewMem(16<<20))
	defer log.Close(context.Background())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, err := range log.Follow(ctx, 0) {
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("follow ended with %v", err)
		}
	}
}

func TestSecondOpenFencesTheFirst(t *testing.T) {
	filesystem := vfs.NewMem(16 << 20)
	first := openLog(t, filesystem)
	_, err := first.Append(context.Background(), storage.Record{Value: []byte("a")})
	must(t, err)
	second := openLog(t, filesystem)
	defer second.Close(context.Background())
	if _, err := first.Append(context.Background(), storage.Record{Value: []byte("lost")}); !errors.Is(err, storage.ErrFenced) {
		t.Fatalf("append of the first: %v", err)
	}
	if err := first.Close(context.Background()); !errors.Is(err, storage.ErrFenced) {
		t.Fatalf("close of the first: %v", err)
	}
	for r, err := range second.Read(0) {
		must(t, err)
		if string(r.Value) != "a" {
			t.Fatalf("read %s", r.Value)
		}
	}
}

func TestOpenLogCreatesOnlyWhatNeverWas(t *testing.T) {
	filesystem := vfs.NewMem(16 << 20)
	must(t, filesystem.MkdirAll("data/orders")) // made, and then the power failed
	log := openLog(t, filesystem)
	_, err := log.Append(context.Background(), storage.Record{})
	must(t, err)
	must(t, log.Close(context.Background()))
	dir, err := filesystem.OpenDir("data/orders")
	must(t, err)
	defer dir.Close()
	entries, err := dir.List()
	must(t, err)
	for _, entry := range entries {
		if entry.Name == "manifest.00000000" || entry.Name == "manifest.00000001" {
			must(t, dir.Remove(entry.Name))
		}
	}
	if _, err := storage.OpenLog(context.Background(), filesystem, "data/orders"); !errors.Is(err, storage.ErrNoManifest) {
		t.Fatalf("a log without manifests: %v", err)
	}
}

func TestLogReportsDamage(t *testing.T) {
	b := newBench(t, vfs.NewMem(16<<20), storage.Options{})
	p := b.take()
	appendDurable(t, p, records(t, "a", 1, 1000))
	must(t, p.Handover(context.Background()))
	b.flip(b.logs()[0], -1)
	log, err := storage.OpenLog(context.Background(), b.fs, "p")
	must(t, err)
	defer log.Close(context.Background())
	for _, err := range log.Read(0) {
		if !isCorruption(err) {
			t.Fatalf("read of a damaged record: %v", err)
		}
	}
}

// Both options reach the engine: what may go goes, and in the next minute, not in the five that are usual.
func TestLogOptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := storage.DefaultConfig()
		config.RetentionAge, config.RetentionBytes = -1, 0
		log := openLog(t, vfs.NewMem(16<<20), storage.WithConfig(config), storage.WithOptions(storage.Options{RetentionInterval: time.Minute}))
		defer log.Close(context.Background())
		_, err := log.Append(context.Background(), storage.Record{Value: []byte("v")})
		must(t, err)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if start, end := log.Bounds(); start != 1 || end != 1 {
			t.Errorf("bounds %d, %d after retention", start, end)
		}
	})
}
