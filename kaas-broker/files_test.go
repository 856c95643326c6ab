package broker

import (
	"math"
	"strings"
	"testing"

	"github.com/kaas-rs/kaas/kaas-broker/config"
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

// A process that may open few files does not accept what it could not carry.
func TestRoomForPartitions(t *testing.T) {
	for name, test := range map[string]struct {
		mode       config.Mode
		files      int64
		partitions int
		fits       bool
	}{
		"enough":       {config.ModeSingle, 1000, 500, true},
		"too many":     {config.ModeSingle, 1000, 600, false},
		"unknown":      {config.ModeSingle, 0, 1 << 20, true},
		"in memory":    {config.ModeDev, 1000, 1 << 20, true},
		"a higher one": {config.ModeSingle, 20_000, 10_000, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := &Broker{config: &config.Config{Mode: test.mode}, options: Options{OpenFiles: test.files}, stores: &stores{slotCount: 4}}
			err := b.roomFor(test.partitions)
			if (err == nil) != test.fits || err != nil && !strings.Contains(err.Error(), "ulimit -n") {
				t.Error(err)
			}
		})
	}
}
