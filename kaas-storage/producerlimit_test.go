package storage

import (
	"math"
	"slices"
	"testing"
)

func TestFairShare(t *testing.T) {
	for _, c := range []struct {
		counts []int
		most   int
		want   int
	}{
		{nil, 10, math.MaxInt},
		{[]int{10}, 10, math.MaxInt},
		{[]int{11}, 10, 10},
		{[]int{4, 5}, 10, math.MaxInt},
		{[]int{40, 255}, 300, math.MaxInt},
		{[]int{245, 250, 250, 251}, 1000, math.MaxInt},
		{[]int{2, 20, 20}, 22, 10},
		{[]int{20, 2, 20, 9}, 30, 9},
	} {
		if got := fairShare(slices.Clone(c.counts), c.most); got != c.want {
			t.Errorf("%v within %d: %d, want %d", c.counts, c.most, got, c.want)
		}
	}
}
