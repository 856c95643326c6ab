package api

import "github.com/kaas-rs/kaas/kaas-storage"

// fetchWatch wakes a parked fetch when a watermark of its partitions moves or a leadership ends.
type fetchWatch struct {
	changed    chan struct{}
	partitions []*storage.Partition
	stops      []func()
}

// newFetchWatch watches the partitions of rows that have one.
func newFetchWatch(rows []fetchRow) *fetchWatch {
	w := &fetchWatch{
		changed:    make(chan struct{}, 1),
		partitions: make([]*storage.Partition, len(rows)),
		stops:      make([]func(), 0, len(rows)),
	}
	for i := range rows {
		w.partitions[i] = rows[i].partition
		if rows[i].partition != nil {
			w.stops = append(w.stops, rows[i].partition.Watch(w.changed))
		}
	}
	return w
}

// covers reports whether the rows are still of the partitions that are watched: a new leadership is a new partition.
func (w *fetchWatch) covers(rows []fetchRow) bool {
	for i := range rows {
		if rows[i].partition != w.partitions[i] {
			return false
		}
	}
	return true
}

func (w *fetchWatch) end() {
	for _, stop := range w.stops {
		stop()
	}
}
