package broker

import (
	"math"
	"testing"
)

func TestFileNeeds(t *testing.T) {
	for name, test := range map[string]struct {
		partitions, slots, connections int
		want                           FileNeeds
	}{
		"no partitions":         {0, 0, math.MaxInt32, FileNeeds{0, 164, 1064}},
		"a few":                 {10, 0, math.MaxInt32, FileNeeds{10, 214, 1154}},
		"with slots":            {10, 50, math.MaxInt32, FileNeeds{10, 464, 1604}},
		"more than taken over":  {1000, 0, math.MaxInt32, FileNeeds{1000, 1420, 6320}},
		"connections are bound": {10, 0, 20, FileNeeds{10, 134, 174}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := fileNeeds(test.partitions, test.slots, test.connections); got != test.want {
				t.Errorf("%+v, want %+v", got, test.want)
			}
		})
	}
}
