package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// machine is what one must know of the computer to read the figures; nothing in it tells whose it is.
type machine struct {
	Processor  string  `json:"processor"`
	Cores      int     `json:"cores"`
	MemoryGB   float64 `json:"memory_gb"`
	System     string  `json:"system"`
	FileSystem string  `json:"file_system"`
	Go         string  `json:"go"`
	Java       string  `json:"java"`
	// LoadBefore is the load average of the last minute before the race began.
	LoadBefore float64 `json:"load_before"`
}

func describeMachine(ctx context.Context, dir string) machine {
	return machine{
		Processor:  lineValue("/proc/cpuinfo", "model name"),
		Cores:      runtime.NumCPU(),
		MemoryGB:   memoryGB(),
		System:     "Linux " + kernelVersion(),
		FileSystem: fileSystem(dir),
		Go:         runtime.Version(),
		Java:       javaVersion(ctx),
		LoadBefore: loadAverage(),
	}
}

// busy says whether others used the machine, so that the figures are not worth much.
func (m machine) busy() bool { return m.LoadBefore > 0.25*float64(m.Cores) }

// lineValue is what stands behind the colon of a file's first line of that name.
func lineValue(path, name string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(text)) {
		if key, value, found := strings.Cut(line, ":"); found && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

func memoryGB() float64 {
	kibibytes, _ := strconv.ParseFloat(strings.TrimSuffix(lineValue("/proc/meminfo", "MemTotal"), " kB"), 64)
	return kibibytes * 1024 / 1e9
}

// kernelVersion leaves out what follows the two first numbers: builders put names there.
func kernelVersion() string {
	text, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return ""
	}
	parts := strings.SplitN(strings.TrimSpace(string(text)), ".", 3)
	return strings.Join(parts[:min(len(parts), 2)], ".")
}

func loadAverage() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), " ")
	load, _ := strconv.ParseFloat(first, 64)
	return load
}

// fileSystem names the kinds that people keep brokers on, by the numbers of statfs(2).
func fileSystem(dir string) string {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(dir, &stat); err != nil {
		return "unknown"
	}
	names := map[uint32]string{
		0xef53: "ext4", 0x58465342: "xfs", 0x9123683e: "btrfs", 0x01021994: "tmpfs", 0x6969: "nfs", 0x794c7630: "overlay", 0x2fc12fc1: "zfs",
	}
	if name, known := names[uint32(stat.Type)]; known {
		return name
	}
	return fmt.Sprintf("%#x", uint32(stat.Type))
}

func javaVersion(ctx context.Context) string {
	text, err := exec.CommandContext(ctx, "java", "-version").CombinedOutput()
	if err != nil {
		return "none"
	}
	first, _, _ := strings.Cut(string(text), "\n")
	return first
}
