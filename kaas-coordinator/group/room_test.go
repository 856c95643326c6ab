package group_test

import (
	"errors"
	"testing"
	"time"

	"github.com/kaas-rs/kaas/kaas-coordinator/group"
)

// crowd is several groups that share a room of 1 MiB.
type crowd struct {
	t      *testing.T
	config group.Config
	next   group.RequestID
}

func newCrowd(t *testing.T) *crowd {
	t.Helper()
	config := group.DefaultConfig()
	config.InitialRebalanceDelay, config.Room = 0, group.NewRoom(1<<20)
	return &crowd{t: t, config: config}
}

func (c *crowd) group() *group.Machine { return group.NewMachine(c.config) }

// join is the answer to a join of a member, which may be to come yet.
func (c *crowd) join(m *group.Machine, member, fresh string, metadata int) error {
	c.t.Helper()
	c.next++
	effects := m.Join(c.next, group.JoinRequest{
		MemberID: member, NewMemberID: fresh, ProtocolType: "consumer", SessionTimeout: time.Minute, RebalanceTimeout: time.Minute,
		Protocols: []group.Protocol{{Name: "range", Metadata: make([]byte, metadata)}},
	})
	for _, answer := range effects.Joins {
		if answer.Request == c.next {
			return answer.Result.Err
		}
	}
	return nil
}

// complete ends the joining of a group that is new.
func (c *crowd) complete(m *group.Machine) { m.Expired(group.Timer{Kind: group.JoinTimer}) }

func (c *crowd) assign(m *group.Machine, leader string, assignments ...group.Assignment) error {
	c.t.Helper()
	c.next++
	effects := m.Sync(c.next, group.SyncRequest{
		Identity: group.Identity{MemberID: leader, Generation: m.Generation()}, Assignments: assignments,
	})
	for _, answer := range effects.Syncs {
		if answer.Request == c.next {
			return answer.Result.Err
		}
	}
	return nil
}

func (c *crowd) want(what string, got, want error) {
	c.t.Helper()
	if !errors.Is(got, want) {
		c.t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func (c *crowd) holds(what string, least, most int64) {
	c.t.Helper()
	if used := c.config.Room.Used(); used < least || used > most {
		c.t.Errorf("%s: %d bytes are taken, want %d to %d", what, used, least, most)
	}
}

// A member that takes much has room only as far as those of all other groups leave it; one of usual size always has.
func TestGroupsShareARoom(t *testing.T) {
	c := newCrowd(t)
	a, b := c.group(), c.group()
	c.want("700 KiB", c.join(a, "", "a", 700<<10), nil)
	c.want("700 KiB beside it", c.join(b, "", "b", 700<<10), group.ErrNotAvailable)
	c.want("200 KiB beside it", c.join(b, "", "b", 200<<10), nil)
	c.want("a usual one", c.join(c.group(), "", "c", 60<<10), nil)
	c.complete(a)
	c.want("900 KiB in place of 700", c.join(a, "a", "", 900<<10), group.ErrNotAvailable)
	c.want("800 KiB in place of 700", c.join(a, "a", "", 800<<10), nil)
	c.holds("both", 1000<<10, 1<<20)
	c.want("what its members may have is told to a stranger", c.join(a, "stranger", "", 300<<10), group.ErrNotAvailable)
}

// What is given out counts, too, and a leader that cannot give it out may try again.
func TestAssignmentsTakeRoom(t *testing.T) {
	c := newCrowd(t)
	a := c.group()
	c.want("join", c.join(a, "", "a", 100), nil)
	c.complete(a)
	c.want("2 MiB", c.assign(a, "a", group.Assignment{MemberID: "a", Data: make([]byte, 2<<20)}), group.ErrNotAvailable)
	if a.State() != group.CompletingRebalance {
		t.Errorf("the group is %v", a.State())
	}
	c.want("900 KiB", c.assign(a, "a", group.Assignment{MemberID: "a", Data: make([]byte, 900<<10)}), nil)
	c.holds("assigned", 900<<10, 910<<10)
	c.want("200 KiB beside it", c.join(c.group(), "", "b", 200<<10), group.ErrNotAvailable)
	restored, _ := group.Restore(c.config, a.Snapshot(time.Now()))
	c.holds("with a second one that was restored", 1800<<10, 1820<<10)
	a.Kill(group.ErrNotAvailable)
	restored.Kill(group.ErrNotAvailable)
	c.holds("both ended", 0, 0)
}

// Room comes back in each of the ways in which members go.
func TestMembersGiveTheirRoomBack(t *testing.T) {
	for name, end := range map[string]func(m *group.Machine){
		"leaves":        func(m *group.Machine) { m.Leave([]group.LeaveRequest{{MemberID: "a"}}) },
		"is silent":     func(m *group.Machine) { m.Expired(group.Timer{Kind: group.SessionTimer, Member: "a"}) },
		"does not sync": func(m *group.Machine) { m.Expired(group.Timer{Kind: group.SyncTimer}) },
		"group ends":    func(m *group.Machine) { m.Kill(group.ErrNotAvailable) },
	} {
		t.Run(name, func(t *testing.T) {
			c := newCrowd(t)
			m := c.group()
			c.want("join", c.join(m, "", "a", 900<<10), nil)
			c.complete(m)
			c.holds("joined", 900<<10, 1<<20)
			end(m)
			c.holds("gone", 0, 0)
		})
	}
	t.Run("rebalances", func(t *testing.T) {
		c := newCrowd(t)
		m := c.group()
		c.want("join", c.join(m, "", "a", 100), nil)
		c.complete(m)
		c.want("assign", c.assign(m, "a", group.Assignment{MemberID: "a", Data: make([]byte, 900<<10)}), nil)
		c.want("rejoin", c.join(m, "a", "", 200), nil)
		c.want("assign less", c.assign(m, "a", group.Assignment{MemberID: "a", Data: make([]byte, 100)}), nil)
		c.holds("assigned less", 0, 0)
	})
}
