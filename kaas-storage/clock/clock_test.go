package clock_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kaas-rs/kaas/kaas-storage/clock"
)

func Example() {
	c := clock.New(time.Now)
	written := time.Now().Add(-8 * 24 * time.Hour)
	fmt.Println(c.Now().Sub(written) > 7*24*time.Hour)
	// Output: true
}

func TestLeaps(t *testing.T) {
	type step struct {
		passes time.Duration // before the wall clock is set
		set    time.Duration // how far the wall clock is ahead of the true time
		want   time.Duration // how far the clock is
	}
	for name, steps := range map[string][]step{
		"none":                             {{0, 0, 0}, {time.Hour, 0, 0}, {100 * time.Hour, 0, 0}},
		"small ones":                       {{time.Minute, time.Second, time.Second}, {time.Minute, 50 * time.Second, 50 * time.Second}},
		"back":                             {{time.Minute, -5 * time.Hour, -5 * time.Hour}, {time.Hour, -5 * time.Hour, -5 * time.Hour}},
		"forward, and set right":           {{time.Minute, 5 * time.Hour, 0}, {59 * time.Minute, 5 * time.Hour, 0}, {time.Second, 0, 0}, {time.Hour, 0, 0}},
		"forward for good":                 {{time.Minute, 5 * time.Hour, 0}, {59 * time.Minute, 5 * time.Hour, 0}, {time.Minute, 5 * time.Hour, 5 * time.Hour}},
		"nobody asked for long":            {{30 * time.Hour, 5 * time.Hour, 0}, {time.Hour, 5 * time.Hour, 5 * time.Hour}},
		"forward twice":                    {{time.Minute, 5 * time.Hour, 0}, {50 * time.Minute, 0, 0}, {time.Minute, 9 * time.Hour, 0}, {50 * time.Minute, 9 * time.Hour, 0}},
		"back, and forward where it was":   {{time.Minute, -5 * time.Hour, -5 * time.Hour}, {time.Minute, 0, -5 * time.Hour}, {time.Hour, 0, 0}},
		"further ahead while it is waited": {{time.Minute, 5 * time.Hour, 0}, {30 * time.Minute, 99 * time.Hour, 0}, {30 * time.Minute, 99 * time.Hour, 99 * time.Hour}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ahead := time.Duration(0)
				c := clock.New(func() time.Time { return time.Now().Add(ahead) })
				for i, s := range steps {
					time.Sleep(s.passes)
					ahead = s.set
					if got := c.Now().Sub(time.Now().Round(0)); got != s.want {
						t.Errorf("step %d: %v ahead, want %v", i, got, s.want)
					}
				}
			})
		})
	}
}
