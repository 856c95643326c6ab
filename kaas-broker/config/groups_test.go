package config_test

import (
	"math"
	"testing"
	"time"

	"github.com/kaas-rs/kaas/kaas-broker/config"
)

func TestGroups(t *testing.T) {
	defaults := config.Groups{
		MinSessionTimeout: 6 * time.Second, MaxSessionTimeout: 30 * time.Minute, InitialRebalanceDelay: 3 * time.Second, MaxSize: math.MaxInt32,
		OffsetRetention: 7 * 24 * time.Hour, OffsetCheckInterval: 10 * time.Minute, MaxOffsetMetadata: 4096,
	}
	if got := load(t, nil, nil, "").Groups; got != defaults {
		t.Errorf("without settings: %+v", got)
	}
	want := config.Groups{
		MinSessionTimeout: time.Second, MaxSessionTimeout: time.Minute, InitialRebalanceDelay: 0, MaxSize: 5,
		OffsetRetention: time.Hour, OffsetCheckInterval: time.Second, MaxOffsetMetadata: 10,
	}
	c := load(t, nil, nil, `group.min.session.timeout.ms=1000
group.max.session.timeout.ms=60000
group.initial.rebalance.delay.ms=0
group.max.size=5
offsets.retention.minutes=60
offsets.retention.check.interval.ms=1000
offset.metadata.max.bytes=10
`)
	if c.Groups != want {
		t.Errorf("%+v, want %+v", c.Groups, want)
	}
	if len(c.Warnings) != 0 {
		t.Errorf("warnings %v", c.Warnings)
	}
}
