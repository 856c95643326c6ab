package group_test

import (
	"fmt"
	"time"

	"github.com/kaas-rs/kaas/kaas-coordinator/group"
)

// The machine only says what is to be done: here, which timer to set, and later what to answer.
func Example() {
	m := group.NewMachine(group.DefaultConfig())
	effects := m.Join(1, group.JoinRequest{
		NewMemberID: "app-1", ProtocolType: "consumer", Protocols: []group.Protocol{{Name: "range"}},
		SessionTimeout: 45 * time.Second, RebalanceTimeout: 5 * time.Minute,
	})
	for _, t := range effects.Timers {
		fmt.Println(t.Timer.Kind, t.After)
	}
	effects = m.Expired(group.Timer{Kind: group.JoinTimer})
	fmt.Println(effects.Joins[0].Result.Leader, m.State())
	// Output:
	// session 5m0s
	// join 3s
	// app-1 CompletingRebalance
}
