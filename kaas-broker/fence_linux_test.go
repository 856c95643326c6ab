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
