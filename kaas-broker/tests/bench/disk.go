package main

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// runProbes measures what disk and loopback give to a program that does nothing else.
func runProbes(ctx context.Context, r *race) error {
	if err := r.settle(ctx, 2*r.settings.ProbeBytes); err != nil {
		return err
	}
	small, _, err := appendAndSync(r.dir, 4<<10, r.settings.ProbeAppends)
	if err != nil {
		return err
	}
	r.noteMachine(diskSmallP50, milliseconds(percentile(small, 0.50)))
	count := int(r.settings.ProbeBytes >> 20)
	large, cpu, err := appendAndSync(r.dir, 1<<20, count)
	if err != nil {
		return err
	}
	r.noteMachine(diskLarge, megabytesPerSecond(int64(count)<<20, sum(large)))
	r.noteMachine(diskCPU, perGigabyte(cpu, int64(count)<<20))
	sent, err := sendOverLoopback(ctx, r.dir, r.settings.ProbeBytes)
	if err != nil {
		return err
	}
	r.noteMachine(loopback, megabytesPerSecond(sent.bytes, sent.took))
	r.noteMachine(loopbackCPU, perGigabyte(sent.cpu, sent.bytes))
	return nil
}

func (r *race) noteMachine(m metric, value float64) {
	r.results.add(nameMachine, m, value)
	r.sayf("    %-46s %.4g", m, value)
}

// appendAndSync appends blocks to a new file and calls fdatasync after each. It returns the time of each pair, and the CPU time of all.
func appendAndSync(dir string, size, count int) (times []time.Duration, cpu time.Duration, err error) {
	path := filepath.Join(dir, "probe")
	file, err := os.Create(path)
	if err != nil {
		return nil, 0, err
	}
	defer os.Remove(path)
	defer file.Close()
	block := make([]byte, size)
	for i := range block {
		block[i] = byte(i * 31)
	}
	times = make([]time.Duration, count)
	timer := timeThread()
	defer timer.release()
	for i := range times {
		began := time.Now()
		if _, err := file.Write(block); err != nil {
			return nil, 0, err
		}
		if err := syscall.Fdatasync(int(file.Fd())); err != nil {
			return nil, 0, err
		}
		times[i] = time.Since(began)
	}
	return times, timer.spent(), nil
}
