package storage

import (
	"errors"
	"slices"
	"time"
)

// trimAbove is the used share of a memory volume, in quarters, above which closed segments are dropped early.
const trimAbove = 3

// relieve drops the oldest closed segments of a volume in memory while more than three quarters of it are used: of logs whose policy lets
// retention remove records, and saying so. A volume on disk is never relieved: there, full is full.
func (e *Engine) relieve(v *Volume, partitions []*Partition) {
	usage, err := v.fs.Usage()
	if err != nil {
		e.options.Logger.Warn().Err(err).Msg("free memory is unknown")
		return
	}
	excess := (usage.Total - usage.Free) - usage.Total/4*trimAbove
	if excess <= 0 {
		return
	}
	for _, c := range oldestClosed(v, partitions) {
		if excess <= 0 {
			return
		}
		if _, err := c.partition.moveLogStart(e.ctx, c.end); err != nil {
			if !errors.Is(err, ErrClosed) && e.ctx.Err() == nil {
				e.options.Logger.Warn().Err(err).Str("partition", c.partition.label).Msg("memory could not be relieved")
			}
			continue
		}
		e.options.Logger.Warn().Str("partition", c.partition.label).Int64("log_start", c.end).Int64("bytes", c.size).
			Msg("memory is short: oldest closed segment dropped before its retention time")
		excess -= c.size
	}
}

// closedSegment is a candidate to be dropped.
type closedSegment struct {
	partition *Partition
	created   time.Time
	end, size int64
}

// oldestClosed lists the closed segments on the volume by age. Of one log they come in order, because a segment is made after those before it.
func oldestClosed(v *Volume, partitions []*Partition) []closedSegment {
	var closed []closedSegment
	for _, p := range partitions {
		if p.volume != v || !p.Config().Delete {
			continue
		}
		active := p.writing()
		for _, s := range *p.segments.Load() {
			if s == active {
				break
			}
			closed = append(closed, closedSegment{partition: p, created: s.created, end: s.end.Load(), size: s.committed.Load()})
		}
	}
	slices.SortStableFunc(closed, func(a, b closedSegment) int { return a.created.Compare(b.created) })
	return closed
}
