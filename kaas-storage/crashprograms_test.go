package storage_test

import (
	"fmt"
	"testing/synctest"
	"time"

	"github.com/kaas-rs/kaas/kaas-storage"
)

// programs are what is cut. Add rows: each step of crashWorld waits until the background is at rest, so a program is deterministic.
var programs = []program{
	{name: "append", run: func(w *crashWorld) {
		w.append("a", 2)
		w.append("b", 1)
		w.append("c", 3)
	}},
	{name: "append several at once", run: func(w *crashWorld) { w.appendTogether("a", "b", "c", "d") }},
	{name: "roll", config: func(c *storage.Config) { c.SegmentBytes = 150 }, run: func(w *crashWorld) {
		for i := range 4 {
			w.append(fmt.Sprint("r", i), 2)
		}
	}},
	{name: "roll within one commit", config: func(c *storage.Config) { c.SegmentBytes = 150 }, run: func(w *crashWorld) {
		w.append("first", 1)
		w.appendTogether("a", "b", "c", "d")
	}},
	{name: "checkpoint", config: func(c *storage.Config) { c.IndexInterval = 1 }, run: func(w *crashWorld) {
		w.append("a", 2)
		w.idle()
		w.append("b", 2)
		w.append("c", 2)
		w.idle()
		w.append("d", 1)
	}},
	{name: "checkpoint over rolled segments", config: func(c *storage.Config) { c.IndexInterval, c.SegmentBytes = 1, 150 }, run: func(w *crashWorld) {
		for round := range 2 {
			for i := range 3 {
				w.append(fmt.Sprint("r", round, i), 2)
			}
			w.idle()
		}
	}},
	{name: "delete records", config: func(c *storage.Config) { c.SegmentBytes = 150 }, run: func(w *crashWorld) {
		w.append("a", 2)
		w.append("b", 2)
		w.append("c", 2)
		w.deleteRecords(3)
		w.append("d", 2)
		w.deleteRecords(8)
		w.append("e", 1)
	}},
	{name: "delete records beside slow readers", config: func(c *storage.Config) { c.IndexInterval, c.SegmentBytes = 1, 150 }, run: func(w *crashWorld) {
		w.begin(1)
		w.begin(2)
		w.end(1, false)
		w.append("a", 2)
		w.readSlowly(0)
		w.readSlowly(2)
		w.end(2, false)
		w.deleteRecords(w.p.Offsets().HighWatermark)
		w.idle()
		w.append("b", 2)
		w.take()
		w.append("c", 2)
		w.deleteRecords(w.p.Offsets().HighWatermark - 1)
		w.endReaders()
		w.append("d", 2)
	}},
	{
		name: "retention by size", config: func(c *storage.Config) { c.SegmentBytes, c.RetentionBytes, c.RetentionAge = 150, 200, -1 }, options: storage.Options{RetentionInterval: time.Minute},
		run: func(w *crashWorld) {
			for i := range 5 {
				w.append(fmt.Sprint("r", i), 2)
			}
			w.retention(4)
			w.append("z", 1)
		},
	},
	{
		name: "retention by age takes the active segment", config: func(c *storage.Config) { c.RetentionAge = time.Hour }, options: storage.Options{RetentionInterval: time.Minute},
		run: func(w *crashWorld) {
			w.append("a", 2)
			w.retention(2)
			w.append("b", 1)
		},
	},
	{name: "takeover", run: func(w *crashWorld) {
		w.append("a", 2)
		w.take()
		w.append("b", 2)
		w.take()
		w.take()
		w.append("c", 1)
	}},
	{name: "takeover behind a recovery point", config: func(c *storage.Config) { c.SegmentBytes = 150 }, run: func(w *crashWorld) {
		w.append("a", 2)
		w.append("b", 2)
		w.idle()
		w.append("c", 2)
		w.append("d", 2)
		w.take()
		w.append("e", 1)
		w.take()
		w.append("f", 1)
	}},
	{name: "handover", run: func(w *crashWorld) {
		w.append("a", 2)
		w.handover()
		w.take()
		w.handover()
		w.take()
		w.append("b", 1)
	}},
	{name: "producers", run: func(w *crashWorld) {
		w.sequenced(7, 0, 2)
		w.sequenced(8, 0, 1)
		w.idle()
		w.sequenced(7, 2, 2)
		w.take()
		w.sequenced(8, 1, 1)
		w.deleteRecords(6)
		w.sequenced(7, 4, 1)
	}},
	{name: "deletion", config: func(c *storage.Config) { c.SegmentBytes = 150 }, run: func(w *crashWorld) {
		w.append("a", 2)
		w.append("b", 2)
		w.destroy()
	}},
	{name: "deletion after a handover", run: func(w *crashWorld) {
		w.append("a", 2)
		w.handover()
		w.destroy()
	}},
	{name: "page cache", pageCache: true, config: func(c *storage.Config) { c.FlushMessages, c.SegmentBytes = 1000, 150 }, run: func(w *crashWorld) {
		w.append("a", 2)
		w.append("b", 2)
		w.append("c", 2)
		w.idle()
		w.append("d", 2)
		w.take()
		w.append("e", 2)
	}},
	{name: "page cache, recovery points at once", pageCache: true, config: func(c *storage.Config) { c.FlushMessages, c.SegmentBytes = 1000, 150 }, run: func(w *crashWorld) {
		w.append("a", 2)
		w.append("b", 2)
		w.deleteRecords(1)
		w.append("c", 2)
		w.append("d", 2)
		w.handover()
		w.take()
		w.append("e", 2)
	}},
	{name: "transactions", run: func(w *crashWorld) {
		w.begin(1)
		w.append("a", 1)
		w.begin(2)
		w.end(1, false)
		w.idle()
		w.begin(3)
		w.end(2, true)
		w.end(3, false)
		w.append("b", 1)
	}},
	{name: "transaction index made after the others", run: func(w *crashWorld) {
		w.begin(1)
		w.begin(2)
		w.idle()
		w.end(1, false)
		w.idle()
		w.end(2, false)
		w.idle()
	}},
	{name: "transactions over segments and owners", config: func(c *storage.Config) { c.IndexInterval, c.SegmentBytes = 1, 150 }, run: func(w *crashWorld) {
		w.begin(1)
		w.begin(2)
		w.end(2, false)
		w.take()
		w.begin(3)
		w.idle()
		w.end(1, false)
		w.handover()
		w.take()
		w.end(3, false)
		w.append("b", 1)
		w.take()
	}},
	{name: "transactions and deleted records", config: func(c *storage.Config) { c.SegmentBytes = 150 }, run: func(w *crashWorld) {
		w.begin(1)
		w.begin(2)
		w.end(1, false)
		w.append("a", 2)
		w.deleteRecords(4)
		w.end(2, false)
		w.deleteRecords(6)
		w.begin(3)
		w.deleteRecords(10)
	}},
	{name: "page cache, transactions", pageCache: true, config: func(c *storage.Config) { c.FlushMessages, c.SegmentBytes = 1000, 150 }, run: func(w *crashWorld) {
		w.begin(1)
		w.begin(2)
		w.end(1, false)
		w.begin(3)
		w.append("a", 1)
		w.end(3, true)
		w.take()
		w.end(2, false)
	}},
	{name: "page cache, markers", pageCache: true, config: func(c *storage.Config) { c.FlushMessages = 1000 }, run: func(w *crashWorld) {
		w.append("a", 2)
		w.marker()
		w.append("b", 2)
	}},
}

// compactions are programs in compacted logs: segments of about two batches, records with keys.
var compactions = []program{
	{name: "compaction", compacted: true, run: func(w *crashWorld) {
		for i := range 5 {
			w.put(fmt.Sprint("r", i), "k1", fmt.Sprint("k", i%3))
		}
		w.compact()
		w.put("end", "k2")
	}},
	{name: "compaction of what is compacted", compacted: true, config: func(c *storage.Config) { c.IndexInterval = 1 }, run: func(w *crashWorld) {
		for round := range 3 {
			for i := range 3 {
				w.put(fmt.Sprint("r", round, i), "k1", fmt.Sprint("k", i))
			}
			w.compact()
		}
	}},
	{name: "compaction, takeover, compaction", compacted: true, run: func(w *crashWorld) {
		for i := range 4 {
			w.put(fmt.Sprint("r", i), "k1", fmt.Sprint("k", i))
		}
		w.take()
		w.compact()
		w.put("a", "k1", "k2")
		w.put("b", "k1", "k2")
		w.handover()
		w.take()
		w.put("c", "k1", "k3")
		w.compact()
		w.take()
		w.compact()
	}},
	{name: "compaction, deleted records", compacted: true, run: func(w *crashWorld) {
		for i := range 6 {
			w.put(fmt.Sprint("r", i), "k1", fmt.Sprint("k", i))
		}
		w.compact()
		w.deleteRecords(3)
		w.put("a", "k1", "k2")
		w.put("b", "k1", "k2")
		w.compact()
		w.deleteRecords(9)
		w.take()
		w.compact()
		w.deleteRecords(w.p.Offsets().HighWatermark)
		w.put("c", "k1")
	}},
	{name: "compaction and deleted records beside slow readers", compacted: true, run: func(w *crashWorld) {
		w.begin(1)
		w.put("a", "k1", "k2")
		w.end(1, false)
		for i := range 4 {
			w.put(fmt.Sprint("r", i), "k1", fmt.Sprint("k", i))
		}
		w.readSlowly(0)
		w.readSlowly(w.p.Offsets().HighWatermark - 3)
		w.compact()
		w.readSlowly(3)
		w.put("b", "k1")
		w.put("c", "k1")
		w.deleteRecords(w.p.Offsets().HighWatermark - 2)
		w.compact()
		w.take()
		w.compact()
		w.endReaders()
		w.put("d", "k1", "k2")
	}},
	{
		name: "compaction by the engine, retention by size", compacted: true, options: storage.Options{CompactionInterval: time.Minute, RetentionInterval: time.Hour},
		config: func(c *storage.Config) { c.Delete, c.RetentionBytes, c.RetentionAge = true, 400, -1 },
		run: func(w *crashWorld) {
			for i := range 5 {
				w.put(fmt.Sprint("r", i), "k1", fmt.Sprint("k", i))
			}
			time.Sleep(2 * time.Minute)
			synctest.Wait()
			must(w.t, w.ledger.noteGone(w.p))
			w.ledger.mu.Lock()
			w.ledger.startAsk = w.p.Offsets().HighWatermark
			w.ledger.mu.Unlock()
			for i := range 5 {
				w.put(fmt.Sprint("s", i), "k1", fmt.Sprint("l", i))
			}
			time.Sleep(2 * time.Hour)
			synctest.Wait()
		},
	},
	{name: "compaction of transactions", compacted: true, run: func(w *crashWorld) {
		w.begin(1)
		w.put("a", "k1", "k2")
		w.begin(2)
		w.end(1, false)
		w.end(2, true)
		w.put("b", "k2", "k3")
		w.begin(3)
		w.compact()
		w.end(3, false)
		w.put("c", "k3")
		w.compact()
		w.take()
		w.compact()
		w.put("d", "k3", "k4")
	}},
	{name: "compaction in a page-cache topic", compacted: true, pageCache: true, config: func(c *storage.Config) { c.FlushMessages = 1000 }, run: func(w *crashWorld) {
		for i := range 5 {
			w.put(fmt.Sprint("r", i), "k1", fmt.Sprint("k", i%3))
		}
		w.idle()
		w.compact()
		w.put("a", "k1", "k2")
		w.compact()
		w.take()
		w.put("b", "k1", "k2")
	}},
}
