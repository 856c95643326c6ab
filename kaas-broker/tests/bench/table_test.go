package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestNumber(t *testing.T) {
	for value, want := range map[float64]string{
		0: "0", 1234.5: "1234", 123.4: "123", 12.34: "12.3", 1.234: "1.23", 0.1234: "0.123", 0.01234: "0.0123", 9.999: "10.00", -2.5: "-2.50",
	} {
		if got := number(value); got != want {
			t.Errorf("%v is %q, want %q", value, got, want)
		}
	}
}

func TestTableAligns(t *testing.T) {
	table := newTable("a", "wide ≥")
	table.add("longer", "1")
	want := "| a      | wide ≥ |\n| ------ | ------ |\n| longer | 1      |\n"
	if got := table.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestTablesHoldWhatWasMeasured(t *testing.T) {
	r := filled(map[string]map[metric]float64{
		nameKaas: {fetchBare: 190, peakMemory: 50}, nameKafkaFsync: {fetchBare: 100}, nameMachine: {loopback: 200},
	})
	r.add(nameKaas, fetchBare, 210)
	ratios, measures := cells(ratioTable(r)), cells(measureTable(r))
	for got, want := range map[string]string{
		ratios[2]:   "fetch, bare requests|2.00|-|1.00|≥ 95 % of sendfile|met",
		ratios[3]:   "peak memory in the whole lap|-|-|-|< 120 MB|met",
		measures[2]: "fetch, bare requests|MB/s|200 (190 to 210)|100 (100 to 100)|-|200 (200 to 200)",
		measures[3]: "peak memory in the whole lap|MB|50.0 (50.0 to 50.0)|-|-|-",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if len(ratios) != 4 || len(measures) != 4 {
		t.Errorf("%d and %d lines, want a head and two rows", len(ratios), len(measures))
	}
}

// cells is the lines of a table without their padding.
func cells(table string) []string {
	var lines []string
	for line := range strings.Lines(table) {
		parts := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range parts {
			parts[i] = strings.TrimSpace(parts[i])
		}
		lines = append(lines, strings.Join(parts, "|"))
	}
	return lines
}

func TestReportIsWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "benchmarks")
	written := report{
		Command: "make bench", Machine: machine{Cores: 2, LoadBefore: 1.5}, Settings: fullSettings(),
		Results:  filled(map[string]map[metric]float64{nameKaas: {fetchBare: 190}}),
		Failures: []string{"kaas, recovery: no answer"},
	}
	if err := written.write(dir); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "kafka-3.7.2.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"    make bench\n", "5 interleaved rounds", "2 cores", "not quiet", "| fetch, bare requests |", "- kaas, recovery: no answer\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	raw, err := os.ReadFile(filepath.Join(dir, "kafka-3.7.2.json"))
	if err != nil {
		t.Fatal(err)
	}
	var read report
	if err := json.Unmarshal(raw, &read); err != nil {
		t.Fatal(err)
	}
	if got := read.Results[nameKaas][fetchBare]; len(got) != 1 || got[0] != 190 {
		t.Errorf("raw numbers are %v", got)
	}
}

func TestCommandRepeatsTheRace(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"plain", []string{"-root", "/somewhere", "-dir=/elsewhere"}, "make bench"},
		{"with flags", []string{"-rounds", "3", "-idle", "-large"}, "make bench BENCH='-rounds 3 -idle -large'"},
		{"quick and alone", []string{"-quick", "-contestants", "kaas"}, "make bench BENCH='-quick -contestants kaas'"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := parse(c.args, t.Output())
			if err != nil {
				t.Fatal(err)
			}
			if got := f.command(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
