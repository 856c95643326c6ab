package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// clockTicks is how many of the kernel's units of CPU time make a second; Linux has told programs 100 on every architecture for decades.
const clockTicks = 100

// cpuTime is what a process has used so far, in user and kernel mode.
func cpuTime(pid int) (time.Duration, error) {
	fields, err := statFields(pid)
	if err != nil {
		return 0, err
	}
	// Fields 14 and 15 of the whole line; these begin with field 3.
	user, err1 := strconv.ParseInt(fields[11], 10, 64)
	system, err2 := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * time.Second / clockTicks, errors.Join(err1, err2)
}

// statFields are the fields of /proc/PID/stat behind the command's name, which may hold spaces and parentheses itself.
func statFields(pid int) ([]string, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil, err
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 20 {
		return nil, fmt.Errorf("read /proc/%d/stat: %d fields", pid, len(fields))
	}
	return fields, nil
}

// Lines of /proc/PID/status.
const (
	residentNow  = "VmRSS:"
	residentPeak = "VmHWM:"
)

// memoryOf is a process's resident memory in bytes, now or at its peak.
func memoryOf(pid int, line string) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	return statusBytes(string(text), line)
}

func statusBytes(status, line string) (int64, error) {
	for entry := range strings.Lines(status) {
		rest, found := strings.CutPrefix(entry, line)
		if !found {
			continue
		}
		kibibytes, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
		return kibibytes << 10, err
	}
	return 0, fmt.Errorf("no %s in the process's status", line)
}

// openFiles counts a process's descriptors.
func openFiles(pid int) (int, error) {
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	return len(entries), err
}

// gone says whether a process has ended; one that nobody has waited for yet counts as ended when all its threads have.
func gone(pid int) bool {
	fields, err := statFields(pid)
	if err != nil {
		return true
	}
	if fields[0] != "Z" && fields[0] != "X" {
		return false
	}
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	return err != nil || len(threads) <= 1
}

// end sends a signal and waits until the process is no more.
func end(ctx context.Context, pid int, signal syscall.Signal) error {
	if err := syscall.Kill(pid, signal); err != nil {
		if errors.Is(err, syscall.ESRCH) {
			return nil
		}
		return fmt.Errorf("signal process %d: %w", pid, err)
	}
	for !gone(pid) {
		if err := pause(ctx, time.Millisecond); err != nil {
			return fmt.Errorf("process %d does not end: %w", pid, err)
		}
	}
	return nil
}

// pause sleeps unless ctx ends first.
func pause(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
