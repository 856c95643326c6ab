//go:build !linux

package broker

// machineMemory is the physical memory in bytes, 0 when it is unknown.
func machineMemory() int64 { return 0 }
