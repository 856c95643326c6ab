package broker_test

import (
	"errors"
	"testing"

	broker "github.com/kaas-rs/kaas/kaas-broker"
)

// A broker whose directory another one has taken over ends by itself, with the reason, and leaves nothing.
func TestFencedBrokerEnds(t *testing.T) {
	check := leakCheck(t)
	dir := t.TempDir()
	options := func() broker.Options {
		return broker.Options{Config: load(t, "--data-dir", dir, "--health-addr", "off")}
	}
	first := open(t, options())
	ended := make(chan error, 1)
	go func() { ended <- first.Run(t.Context()) }()
	if err := first.CreateTopic(within(t), "orders", 8, nil); err != nil {
		t.Fatal(err)
	}
	second := open(t, options())
	stop := serve(t, second)
	if err := <-ended; !errors.Is(err, broker.ErrFenced) {
		t.Errorf("the first broker ended with %v", err)
	}
	if err := stop(); err != nil {
		t.Errorf("the second broker: %v", err)
	}
	check()
}
