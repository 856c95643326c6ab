package fetchsession_test

import (
	"fmt"

	"github.com/kaas-rs/kaas/kaas-broker/internal/fetchsession"
)

// A consumer begins a session, and then only asks for what is new.
func Example() {
	cache := fetchsession.New(1000)
	begun, _ := cache.Begin(fetchsession.Request{Wanted: []fetchsession.Wanted{{Key: fetchsession.Key{Topic: "orders"}}}})
	id, _ := begun.End([]fetchsession.Result{{HighWatermark: 5}})

	next, _ := cache.Begin(fetchsession.Request{ID: id, Epoch: 1})
	results := []fetchsession.Result{{HighWatermark: 5}}
	_, _ = next.End(results)
	fmt.Println(next.Wanted()[0].Topic, results[0].Skip)
	// Output: orders true
}
