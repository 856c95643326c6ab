package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// absent stands where nothing was measured or nothing can be said.
const absent = "-"

// ratioTable compares kaas's medians with everybody else's, and with the targets.
func ratioTable(r results) string {
	t := newTable("work", "kaas : Kafka, honest fsync", "kaas : Kafka, page cache", "kaas : limit", "target", "verdict")
	for _, line := range r.measured([]string{nameKaas}) {
		t.add(line.title,
			ratioText(r, line.metric, nameKafkaFsync, line.metric),
			ratioText(r, line.metric, nameKafkaCache, line.metric),
			limitRatio(r, line),
			line.targetText(), verdict(r, line))
	}
	return t.String()
}

// measureTable is the medians with the lowest and highest value of all rounds.
func measureTable(r results) string {
	t := newTable("work", "unit", "kaas", "Kafka, honest fsync", "Kafka, page cache", "limit")
	for _, line := range r.measured([]string{nameKaas, nameKafkaFsync, nameKafkaCache}) {
		t.add(line.title, line.unit,
			spreadText(r, nameKaas, line.metric),
			spreadText(r, nameKafkaFsync, line.metric),
			spreadText(r, nameKafkaCache, line.metric),
			limitText(r, line))
	}
	return t.String()
}

// limitRatio compares kaas with the physical limit: round by round where that was probed beside the work.
func limitRatio(r results, line row) string {
	if !line.besideDisk() {
		return ratioText(r, line.metric, nameMachine, line.limit)
	}
	share, known := r.median(nameKaas, line.metric.ofDisk())
	if !known {
		return absent
	}
	return number(share)
}

func limitText(r results, line row) string {
	if line.besideDisk() {
		return spreadText(r, nameKaas, line.metric.disk())
	}
	return spreadText(r, nameMachine, line.limit)
}

// besideTable shows whether everybody has met the same disk, and what each made of it.
func besideTable(r results) string {
	t := newTable("work", "unit", "the disk beside kaas", "beside Kafka, honest fsync", "beside Kafka, page cache", "kaas : disk", "Kafka, honest fsync : disk", "Kafka, page cache : disk")
	for _, line := range r.measured([]string{nameKaas, nameKafkaFsync, nameKafkaCache}) {
		if !line.besideDisk() {
			continue
		}
		cells := []string{line.title, line.unit}
		for _, of := range []metric{line.metric.disk(), line.metric.ofDisk()} {
			for _, contestant := range []string{nameKaas, nameKafkaFsync, nameKafkaCache} {
				cells = append(cells, spreadText(r, contestant, of))
			}
		}
		t.add(cells...)
	}
	return t.String()
}

// probeTable is what the machine itself gave.
func probeTable(r results) string {
	t := newTable("probe", "unit", "median (lowest to highest)")
	t.add("append and fdatasync of 4 KiB, p50", "ms", spreadText(r, nameMachine, diskSmallP50))
	t.add("append and fdatasync of 1 MiB", "MB/s", spreadText(r, nameMachine, diskLarge))
	t.add("the same, CPU per GB", "s", spreadText(r, nameMachine, diskCPU))
	t.add("sendfile over loopback, one connection", "MB/s", spreadText(r, nameMachine, loopback))
	t.add("the same, sender's CPU per GB", "s", spreadText(r, nameMachine, loopbackCPU))
	return t.String()
}

func ratioText(r results, m metric, contestant string, other metric) string {
	value, known := ratio(r.median, m, contestant, other)
	if !known {
		return absent
	}
	return number(value)
}

func spreadText(r results, contestant string, m metric) string {
	s, ok := r.of(contestant, m)
	if !ok {
		return absent
	}
	return fmt.Sprintf("%s (%s to %s)", number(s.Median), number(s.Lowest), number(s.Most))
}

func (line row) targetText() string {
	if line.target == nil {
		return absent
	}
	return line.target.text
}

func verdict(r results, line row) string {
	if line.target == nil {
		return absent
	}
	met, known := line.target.met(r.median)
	switch {
	case !known:
		return "not measured"
	case met:
		return "met"
	default:
		return "**missed**"
	}
}

// number keeps three significant digits of small numbers and all whole digits of large ones.
func number(value float64) string {
	if value == 0 {
		return "0"
	}
	digits := 2 - int(math.Floor(math.Log10(math.Abs(value))))
	return strconv.FormatFloat(value, 'f', max(digits, 0), 64)
}

// table is a Markdown table with its columns aligned.
type table struct{ lines [][]string }

func newTable(columns ...string) *table {
	return &table{lines: [][]string{columns}}
}

func (t *table) add(cells ...string) { t.lines = append(t.lines, cells) }

func (t *table) String() string {
	widths := make([]int, len(t.lines[0]))
	for _, line := range t.lines {
		for i, cell := range line {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	var text strings.Builder
	for i, line := range t.lines {
		writeLine(&text, line, widths, " ")
		if i == 0 {
			writeLine(&text, make([]string, len(line)), widths, "-")
		}
	}
	return text.String()
}

func writeLine(text *strings.Builder, cells []string, widths []int, fill string) {
	for i, cell := range cells {
		text.WriteString("| " + cell + strings.Repeat(fill, widths[i]-len([]rune(cell))) + " ")
	}
	text.WriteString("|\n")
}
