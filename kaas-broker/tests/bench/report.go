package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// reportName is the file name of both reports, without extension.
const reportName = "kafka-" + kafkaVersion

// report is everything that is written.
type report struct {
	Command  string   `json:"command"`
	Machine  machine  `json:"machine"`
	Settings settings `json:"settings"`
	// Results are by contestant and measurement, one value for each round in order; the machine has one more, of the probe before the first.
	Results results `json:"results"`
	// Failures are works that could not be measured in some round, and why.
	Failures []string `json:"failures,omitempty"`
}

// write puts the tables and the raw numbers into dir.
func (r report) write(dir string) error {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	raw, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	base := filepath.Join(dir, reportName)
	if err := os.WriteFile(base+".json", append(raw, '\n'), 0o600); err != nil {
		return err
	}
	return os.WriteFile(base+".md", []byte(r.markdown()), 0o600)
}

func (r report) markdown() string {
	sections := []string{
		"# kaas against Apache Kafka " + kafkaVersion,
		r.introduction(),
		"## Ratios of the medians\n\n" + strings.TrimSpace(ratioTable(r.Results)),
		"## Medians, with the lowest and highest of all rounds\n\n" + strings.TrimSpace(measureTable(r.Results)),
		"## The disk beside each work\n\n" + strings.TrimSpace(besideTable(r.Results)),
		"## The machine\n\n" + r.machineText() + "\n\n" + strings.TrimSpace(probeTable(r.Results)),
		"## How it is measured\n\n" + r.method(),
	}
	if len(r.Failures) > 0 {
		sections = append(sections, "## What failed\n\n- "+strings.Join(r.Failures, "\n- "))
	}
	return strings.Join(sections, "\n\n") + "\n"
}

func (r report) introduction() string {
	text := fmt.Sprintf("One broker each on one machine, the same disk and the same client program, %s. For rates a ratio above 1 is "+
		"in favor of kaas, for times and memory one below 1. To repeat it:\n\n    %s", rounds(r.Settings.Rounds), r.Command)
	if r.Machine.busy() {
		text += fmt.Sprintf("\n\n**The machine was not quiet**: its load was %.1f before the race began. Do not draw conclusions.", r.Machine.LoadBefore)
	}
	return text
}

func rounds(count int) string {
	if count == 1 {
		return "one round"
	}
	return fmt.Sprintf("%d interleaved rounds", count)
}

func (r report) machineText() string {
	m := r.Machine
	return fmt.Sprintf("%d cores (%s) shared by broker and client, %.0f GB of memory, %s, %s, %s, %s.",
		m.Cores, m.Processor, m.MemoryGB, m.System, m.FileSystem, m.Go, m.Java)
}

func (r report) method() string {
	s := r.Settings
	return strings.Join([]string{
		"- kaas runs in single mode with its defaults: nothing is acknowledged or shown before it is synced and its claim was checked. Honest fsync is " +
			"Apache Kafka with `log.flush.interval.messages=1`; page cache is Apache Kafka with its defaults. Apache Kafka has a heap of 1 GiB and the settings of its own launcher.",
		fmt.Sprintf("- Every lap has fresh directories and warms up with %s. Dirty pages are written before each work. On a virtual machine "+
			"whose host takes free memory away, the benchmark holds what is free and gives back what the next work needs, or it would pay for getting it from the host again, depending on what ran before.", gigabytes(4*s.WarmBytes)),
		fmt.Sprintf("- The disk is probed right before and right after each work that is compared with it (%s in blocks of 1 MiB, or %d blocks of 4 KiB); the limit is the mean of both, "+
			"and the ratio to the limit the median of the rounds' ratios. The probes of the machine, before the first round and after each, are longer.", gigabytes(s.BesideBytes), s.BesideAppends),
		fmt.Sprintf("- Records are %d bytes that cannot be compressed. The client is franz-go with batches of up to 1 MB, acks from all, %d requests in flight, "+
			"a linger of %v where throughput is measured and none where latency is. Bare requests are prepared once, or read and thrown away.", recordSize, inFlight, bulkLinger),
		fmt.Sprintf("- One producer writes %s; eight write %s to a partition each, and both kinds of consumers read the latter from the page cache, bare requests over one connection.",
			gigabytes(s.OneBytes), gigabytes(s.EightBytes)),
		fmt.Sprintf("- One record at a time: %d records. Offered load and end to end: %v each, after one second that does not count.", s.Singles, s.OfferedTime),
		"- MB and GB are 10^6 and 10^9 bytes. CPU is user and system time of the broker. Memory is resident memory; the peak is that of all processes of a lap.",
		fmt.Sprintf("- Recovery: %s in one partition; the time runs from the signal until a fetch returns the last record, the ends and starts of the processes included. "+
			"Memory per partition: growth of a broker that has served one record, when each partition holds one record.", gigabytes(s.CrashBytes)),
		"- The raw numbers are in `" + reportName + ".json`.",
	}, "\n")
}

func gigabytes(bytes int64) string { return number(float64(bytes)/1e9) + " GB" }
