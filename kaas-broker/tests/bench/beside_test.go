package main

import (
	"errors"
	"io"
	"testing"
)

func TestTheDiskIsProbedBesideTheWork(t *testing.T) {
	l := &lap{race: &race{results: results{}, progress: io.Discard}, contestant: contestant{name: nameKaas}}
	disk := []float64{100, 300}
	probe := func() (float64, error) {
		given := disk[0]
		disk = disk[1:]
		return given, nil
	}
	work := func() (float64, error) {
		if len(disk) != 1 {
			t.Errorf("%d probes are left for behind the work, want 1", len(disk))
		}
		return 150, nil
	}
	if err := l.besideDisk(produceOne, probe, work); err != nil {
		t.Fatal(err)
	}
	for m, want := range map[metric]float64{produceOne: 150, produceOne.disk(): 200, produceOne.ofDisk(): 0.75} {
		if got, known := l.results.median(nameKaas, m); !known || got != want {
			t.Errorf("%s is %v, want %v", m, got, want)
		}
	}
}

func TestAFailedProbeNotesNothing(t *testing.T) {
	l := &lap{race: &race{results: results{}, progress: io.Discard}, contestant: contestant{name: nameKaas}}
	broken := errors.New("broken")
	left := 1
	probe := func() (float64, error) {
		left--
		if left < 0 {
			return 0, broken
		}
		return 1, nil
	}
	if err := l.besideDisk(produceOne, probe, func() (float64, error) { return 1, nil }); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	if len(l.results) > 0 {
		t.Errorf("noted %v", l.results)
	}
}

// A ratio is taken round by round: a slow disk beside a slow work is no slower broker.
func TestTheLimitIsThatOfTheRound(t *testing.T) {
	r := results{}
	for _, round := range []struct{ rate, disk float64 }{{100, 100}, {900, 1000}, {480, 500}} {
		r.add(nameKaas, produceEight, round.rate)
		r.add(nameKaas, produceEight.disk(), round.disk)
		r.add(nameKaas, produceEight.ofDisk(), round.rate/round.disk)
	}
	line := rowOf(t, produceEight)
	if got := limitRatio(r, line); got != "0.960" {
		t.Errorf("ratio %s, want the median of 1, 0.9 and 0.96", got)
	}
	if got := limitText(r, line); got != "500 (100 to 1000)" {
		t.Errorf("limit %s", got)
	}
	if got := cells(besideTable(r))[2]; got != "produce, 8 producers, 8 partitions|MB/s|500 (100 to 1000)|-|-|0.960 (0.900 to 1.00)|-|-" {
		t.Errorf("line %q", got)
	}
}
