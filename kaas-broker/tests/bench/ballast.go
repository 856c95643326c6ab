package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

const (
	// spareMemory is left free beside what a work has announced: for brokers that start, and for whoever else uses the machine.
	spareMemory = 2 << 30
	// untouchedMemory is never taken: the kernel would give up what it has cached for it.
	untouchedMemory = 256 << 20
)

// ballast is memory that is held so that what is free has been used before. The host of a virtual machine may take away what its guest has free (free page
// reporting of virtio-balloon), some seconds later. Each page that is then used again costs a fault in the host: here 2.4 s of CPU for each GB that was
// written to files, instead of 0.25. Which of the two a work would meet depends on what ran before, and how long ago. What is held cannot be taken
// away, and is given back right before it is needed.
type ballast struct {
	memory []byte // addresses; the first held bytes are in use
	held   int64
	spare  int64 // bytes that are left free beside what is wanted
}

// newBallast returns one that holds nothing, and nil where the host takes no memory away.
func newBallast() (*ballast, error) {
	if !hostTakesFreePages() {
		return nil, nil
	}
	total, err := memoryLine("MemTotal")
	if err != nil {
		return nil, err
	}
	memory, err := syscall.Mmap(-1, 0, int(total), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANONYMOUS|syscall.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("reserve addresses for %d bytes: %w", total, err)
	}
	_ = syscall.Madvise(memory, syscall.MADV_HUGEPAGE) // fewer faults where the kernel can
	return &ballast{memory: memory, spare: spareMemory}, nil
}

// leave takes everything that is free, and gives back what is wanted, and some to spare. Nothing that the kernel has cached goes for it.
func (b *ballast) leave(wanted int64) error {
	if b == nil {
		return nil
	}
	free, err := memoryLine("MemFree")
	if err != nil {
		return err
	}
	page := int64(os.Getpagesize())
	until := min(b.held+max(free-untouchedMemory, 0), int64(len(b.memory))) / page * page
	for i := b.held; i < until; i += page {
		b.memory[i] = 1
	}
	b.held = max(until-wanted-b.spare, 0) / page * page
	if b.held == until {
		return nil
	}
	return syscall.Madvise(b.memory[b.held:until], syscall.MADV_DONTNEED)
}

// release gives everything back.
func (b *ballast) release() error {
	if b == nil {
		return nil
	}
	return syscall.Munmap(b.memory)
}

// hostTakesFreePages reports whether a balloon device has agreed to report free pages (feature 5 of its kind).
func hostTakesFreePages() bool {
	const reporting = 5
	devices, _ := filepath.Glob("/sys/bus/virtio/drivers/virtio_balloon/virtio*/features")
	for _, path := range devices {
		if features, err := os.ReadFile(path); err == nil && len(features) > reporting && features[reporting] == '1' {
			return true
		}
	}
	return false
}

// memoryLine is a line of /proc/meminfo in bytes.
func memoryLine(name string) (int64, error) {
	kibibytes, err := strconv.ParseInt(strings.TrimSuffix(lineValue("/proc/meminfo", name), " kB"), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", name, err)
	}
	return kibibytes << 10, nil
}
