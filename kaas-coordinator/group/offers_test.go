package group_test

import (
	"errors"
	"testing"
	"time"

	"github.com/kaas-rs/kaas/kaas-coordinator/group"
)

// What the members of a group offer is bounded: a member with more is refused, one that offers less again is taken.
func TestOffersAreBounded(t *testing.T) {
	config := group.DefaultConfig()
	config.InitialRebalanceDelay = 0
	machine := group.NewMachine(config)
	next := group.RequestID(0)
	join := func(member, fresh string, metadata int) error {
		t.Helper()
		next++
		effects := machine.Join(next, group.JoinRequest{
			MemberID: member, NewMemberID: fresh, ProtocolType: "consumer", SessionTimeout: time.Minute, RebalanceTimeout: time.Minute,
			Protocols: []group.Protocol{{Name: "range", Metadata: make([]byte, metadata)}},
		})
		for _, answer := range effects.Joins {
			if answer.Request == next {
				return answer.Result.Err
			}
		}
		return nil // waits
	}
	if err := join("", "a", 17<<20); !errors.Is(err, group.ErrGroupMaxSize) {
		t.Errorf("17 MiB: %v", err)
	}
	if err := join("", "a", 10<<20); err != nil {
		t.Errorf("10 MiB: %v", err)
	}
	if err := join("", "b", 7<<20); !errors.Is(err, group.ErrGroupMaxSize) {
		t.Errorf("7 MiB beside 10: %v", err)
	}
	if err := join("a", "", 11<<20); err != nil {
		t.Errorf("11 MiB in place of 10: %v", err)
	}
	if err := join("", "b", 4<<20); err != nil {
		t.Errorf("4 MiB beside 11: %v", err)
	}
}
