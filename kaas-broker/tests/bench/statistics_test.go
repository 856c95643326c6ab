package main

import (
	"testing"
	"time"
)

func TestSummarize(t *testing.T) {
	cases := []struct {
		name   string
		values []float64
		want   summary
		ok     bool
	}{
		{"nothing", nil, summary{}, false},
		{"one", []float64{3}, summary{3, 3, 3}, true},
		{"odd and unsorted", []float64{9, 1, 2}, summary{2, 1, 9}, true},
		{"even", []float64{4, 1, 2, 9}, summary{3, 1, 9}, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, ok := summarize(c.values)
			if got != c.want || ok != c.ok {
				t.Errorf("got %v, %v, want %v, %v", got, ok, c.want, c.ok)
			}
		})
	}
}

func TestSummarizeKeepsTheOrderOfRounds(t *testing.T) {
	values := []float64{3, 1, 2}
	summarize(values)
	if values[0] != 3 || values[1] != 1 || values[2] != 2 {
		t.Errorf("values became %v", values)
	}
}

func TestPercentile(t *testing.T) {
	hundred := make([]time.Duration, 100)
	for i := range hundred {
		hundred[i] = time.Duration(100 - i)
	}
	cases := []struct {
		name   string
		values []time.Duration
		share  float64
		want   time.Duration
	}{
		{"nothing", nil, 0.5, 0},
		{"one", []time.Duration{7}, 0.99, 7},
		{"half of a hundred", hundred, 0.50, 50},
		{"99 of a hundred", hundred, 0.99, 99},
		{"all", hundred, 1, 100},
		{"none", hundred, 0, 1},
		{"half of three", []time.Duration{1, 2, 3}, 0.5, 2},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := percentile(c.values, c.share); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

func TestUnits(t *testing.T) {
	if got := megabytesPerSecond(5e8, 250*time.Millisecond); got != 2000 {
		t.Errorf("500 MB in a quarter of a second are %v MB/s", got)
	}
	if got := perGigabyte(time.Second, 2e9); got != 0.5 {
		t.Errorf("a second for 2 GB is %v s for each", got)
	}
	if got := milliseconds(1500 * time.Microsecond); got != 1.5 {
		t.Errorf("1500 µs are %v ms", got)
	}
}
