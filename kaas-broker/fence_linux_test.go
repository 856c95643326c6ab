package broker_test

import (
	"errors"
	"testing"
	"time"

	broker "github.com/kaas-rs/kaas/kaas-broker"
)

// A broker whose directory another one has taken over ends by itself, with the reason, and leaves nothing: also one that has no partitions to lose.
func TestFencedBrokerEnds(t *testing.T) {
	for name, partitions := range map[string]int32{"with partitions": 8, "without": 0} {
		t.Run(name, func(t *testing.T) {
			check := leakCheck(t)
			dir := t.TempDir()
			options := func() broker.Options {
				return broker.Options{Config: load(t, "--data-dir", dir, "--health-addr", "off")}
			}
			first := open(t, options())
			ended := make(chan error, 1)
			go func() { ended <- first.Run(t.Context()) }()
			if partitions > 0 {
				if err := first.CreateTopic(within(t), "orders", partitions, nil); err != nil {
					t.Fatal(err)
				}
			}
			second := open(t, options())
			stop := serve(t, second)
			select {
			case err := <-ended:
				if !errors.Is(err, broker.ErrFenced) {
					t.Errorf("the first broker ended with %v", err)
				}
			case <-time.After(patience):
				t.Fatal("the first broker does not end")
			}
			if err := stop(); err != nil {
				t.Errorf("the second broker: %v", err)
			}
			check()
		})
	}
}

// A broker that was replaced before it took anything takes nothing from its successor.
func TestReplacedBrokerTakesNothing(t *testing.T) {
	check := leakCheck(t)
	dir := t.TempDir()
	options := func() broker.Options {
		return broker.Options{Config: load(t, "--data-dir", dir, "--health-addr", "off")}
	}
	first := open(t, options())
	second := open(t, options())
	stop := serve(t, second)
	if err := second.CreateTopic(within(t), "orders", 4, nil); err != nil {
		t.Fatal(err)
	}
	if err := first.Run(within(t)); !errors.Is(err, broker.ErrFenced) {
		t.Errorf("the first broker ended with %v", err)
	}
	if err := stop(); err != nil {
		t.Errorf("the second broker: %v", err)
	}
	check()
}
