package main

import (
	"fmt"
	"time"
)

// disk names what a probe of the disk right before and right after a work gave; the mean of both.
func (m metric) disk() metric { return m + "_disk_beside" }

// ofDisk names a work's figure divided by that of the disk beside it.
func (m metric) ofDisk() metric { return m + "_of_disk_beside" }

// besideDisk notes what a work gives, and what the disk gives right before and after it: a disk is not equally fast all the time, and the one that
// was probed minutes ago says little about the one that the work has met.
func (l *lap) besideDisk(m metric, probe, work func() (float64, error)) error {
	before, err := l.alike(2*l.settings.BesideBytes, probe)
	if err != nil {
		return fmt.Errorf("probe the disk: %w", err)
	}
	value, err := l.alike(l.memory, work)
	if err != nil {
		return err
	}
	after, err := l.alike(2*l.settings.BesideBytes, probe)
	if err != nil {
		return fmt.Errorf("probe the disk: %w", err)
	}
	disk := (before + after) / 2
	l.note(m, value)
	l.note(m.disk(), disk)
	l.note(m.ofDisk(), value/disk)
	return nil
}

// alike measures with the memory that it needs, so that probes and works find the same.
func (l *lap) alike(memory int64, measure func() (float64, error)) (float64, error) {
	if err := l.ballast.leave(memory); err != nil {
		return 0, err
	}
	return measure()
}

// probeLarge is the rate of appends and syncs of 1 MiB in MB/s.
func (l *lap) probeLarge() (float64, error) {
	count := int(l.settings.BesideBytes >> 20)
	times, _, err := appendAndSync(l.race.dir, 1<<20, count)
	if err != nil {
		return 0, err
	}
	return megabytesPerSecond(int64(count)<<20, sum(times)), nil
}

// probeSmall is the median time of an append and sync of 4 KiB in ms.
func (l *lap) probeSmall() (float64, error) {
	times, _, err := appendAndSync(l.race.dir, 4<<10, l.settings.BesideAppends)
	return milliseconds(percentile(times, 0.50)), err
}

func sum(times []time.Duration) (all time.Duration) {
	for _, one := range times {
		all += one
	}
	return all
}
