package storage_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/clock"
	"github.com/kaas-rs/kaas/kaas-storage/storagetest"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// A wall clock that leaps makes nothing old: neither records, nor producers, whose retries would be appended again. One that stays where it leapt to is
// believed in the end.
func TestWallClockLeaps(t *testing.T) {
	for name, c := range map[string]struct {
		ahead time.Duration
		gone  bool // at the end
	}{
		"forward": {30 * time.Hour, true},
		"back":    {-30 * time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var ahead atomic.Int64 // nanoseconds
				b := newBench(t, vfs.NewMem(16<<20), storage.Options{Clock: clock.New(func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) })})
				b.config.RetentionAge, b.config.ProducerExpiry = 20*time.Hour, 20*time.Hour
				p := b.take()
				appendDurable(t, p, records(t, "a", 1, time.Now().UnixMilli()))
				appendDurable(t, p, storagetest.Sequenced(t, 1, 0, 0, 1))
				ahead.Store(int64(c.ahead))
				time.Sleep(50 * time.Minute)
				_, err := p.DeleteRecords(context.Background(), 0)
				must(t, err)
				retried := appendDurable(t, p, storagetest.Sequenced(t, 1, 0, 0, 1))
				if start := p.Offsets().LogStart; start != 0 || !retried.Duplicate {
					t.Errorf("after less than an hour the log starts at %d, and a retry is %+v", start, retried)
				}
				time.Sleep(20 * time.Minute)
				if gone := p.Offsets().LogStart > 0; gone != c.gone {
					t.Errorf("after more than an hour: records gone %v, producers %+v", gone, p.Producers())
				}
				if gone := len(p.Producers()) == 0; gone != c.gone {
					t.Errorf("after more than an hour the producers are %+v", p.Producers())
				}
			})
		})
	}
}
