package main

import "time"

// settings are how much is done. They stand in the JSON file.
type settings struct {
	Rounds       int           `json:"rounds"`
	WarmBytes    int64         `json:"warm_bytes"`
	OneBytes     int64         `json:"produce_1_partition_bytes"`
	EightBytes   int64         `json:"produce_8_partitions_bytes"`
	Singles      int           `json:"single_records"`
	OfferedTime  time.Duration `json:"offered_ns"`
	CrashBytes   int64         `json:"recovery_bytes"`
	LargeBytes   int64         `json:"large_recovery_bytes"`
	CommitTime   time.Duration `json:"commits_ns"`
	Transactions int           `json:"transactions"`
	ProbeAppends int           `json:"probe_appends"`
	ProbeBytes   int64         `json:"probe_bytes"`
	// BesideBytes and BesideAppends are for the probes of the disk right before and after a work.
	BesideBytes   int64         `json:"beside_bytes"`
	BesideAppends int           `json:"beside_appends"`
	Rest          time.Duration `json:"rest_ns"`
	Idle          bool          `json:"idle_partitions"`
	Large         bool          `json:"large_recovery"`
	Works         string        `json:"works,omitempty"` // part of their names; empty for all
}

// fullSettings are for figures that are meant to be read.
func fullSettings() settings {
	return settings{
		Rounds: 5, WarmBytes: 512e6, OneBytes: 2e9, EightBytes: 4e9, Singles: 3000, OfferedTime: 10 * time.Second, CommitTime: 5 * time.Second, Transactions: 200,
		CrashBytes: 0.4e9, LargeBytes: 2e9, ProbeAppends: 1000, ProbeBytes: 1 << 30, BesideBytes: 256 << 20, BesideAppends: 300, Rest: 2 * time.Second,
	}
}

// quickSettings show that everything works, and no more.
func quickSettings() settings {
	return settings{
		Rounds: 1, WarmBytes: 64e6, OneBytes: 256e6, EightBytes: 512e6, Singles: 200, OfferedTime: 2 * time.Second, CommitTime: time.Second, Transactions: 20,
		CrashBytes: 0.1e9, LargeBytes: 0.2e9, ProbeAppends: 100, ProbeBytes: 128 << 20, BesideBytes: 32 << 20, BesideAppends: 50, Rest: 200 * time.Millisecond,
	}
}
