package group_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/kaas-rs/kaas/kaas-coordinator/group"
)

// TestRandomEvents plays random requests and timers against the machine, and checks after each what must always hold: every request is answered
// once at the latest with the group's end, generations never go back, who leads is a member, what is stored can be restored, and there is
// always a timer that leads out of a rebalance.
func TestRandomEvents(t *testing.T) {
	for seed := range uint64(400) {
		c := newChaos(t, seed)
		for range 150 {
			c.step()
			c.check()
			if t.Failed() {
				return
			}
		}
		c.apply("kill", c.machine.Kill(group.ErrNotAvailable))
		if len(c.open) > 0 || len(c.timers) > 0 {
			t.Fatalf("seed %d: left after the end: requests %v, timers %v\n%v", seed, c.open, c.timers, c.history)
		}
	}
}

type chaos struct {
	t          *testing.T
	seed       uint64
	random     *rand.Rand
	config     group.Config
	machine    *group.Machine
	next       group.RequestID
	open       map[group.RequestID]string
	timers     map[group.Timer]bool
	ids        []string
	generation int32
	history    []string
}

func newChaos(t *testing.T, seed uint64) *chaos {
	c := &chaos{
		t: t, seed: seed, random: rand.New(rand.NewPCG(seed, 1)), config: group.DefaultConfig(), ids: []string{"", "nobody"},
		open: map[group.RequestID]string{}, timers: map[group.Timer]bool{},
	}
	if seed%3 == 0 {
		c.config.MaxSize = 3
	}
	c.machine = group.NewMachine(c.config)
	return c
}

func (c *chaos) step() {
	switch c.random.IntN(10) {
	case 0, 1, 2:
		c.join()
	case 3, 4:
		c.sync()
	case 5:
		who := c.identity()
		effects, err := c.machine.Heartbeat(who)
		c.apply(fmt.Sprintf("heartbeat %+v: %v", who, err), effects)
	case 6:
		who := c.identity()
		effects, err := c.machine.CheckCommit(who, c.random.IntN(2) == 0)
		c.apply(fmt.Sprintf("commit %+v: %v", who, err), effects)
	case 7:
		leaving := []group.LeaveRequest{{MemberID: c.id(), InstanceID: c.instance()}, {MemberID: c.id()}}
		_, effects := c.machine.Leave(leaving)
		c.apply(fmt.Sprintf("leave %+v", leaving), effects)
	default:
		c.expire()
	}
}

func (c *chaos) id() string { return c.ids[c.random.IntN(len(c.ids))] }

func (c *chaos) instance() *string {
	if c.random.IntN(3) > 0 {
		return nil
	}
	instance := fmt.Sprintf("i%d", c.random.IntN(3))
	return &instance
}

func (c *chaos) identity() group.Identity {
	return group.Identity{MemberID: c.id(), InstanceID: c.instance(), Generation: c.machine.Generation() - int32(c.random.IntN(2))}
}

func (c *chaos) request(what string) group.RequestID {
	c.next++
	c.open[c.next] = what
	return c.next
}

func (c *chaos) join() {
	r := group.JoinRequest{
		MemberID: c.id(), InstanceID: c.instance(), NewMemberID: fmt.Sprintf("m%d", c.next), ProtocolType: "consumer",
		SessionTimeout: 10 * time.Second, RebalanceTimeout: time.Minute,
		RequireMemberID: c.random.IntN(2) == 0, CanSkipAssignment: c.random.IntN(2) == 0,
	}
	for _, name := range []string{"range", "sticky", "other"}[:1+c.random.IntN(3)] {
		r.Protocols = append(r.Protocols, group.Protocol{Name: name, Metadata: []byte{byte(c.random.IntN(2))}})
	}
	c.random.Shuffle(len(r.Protocols), func(i, j int) { r.Protocols[i], r.Protocols[j] = r.Protocols[j], r.Protocols[i] })
	c.ids = append(c.ids, r.NewMemberID)
	if len(c.ids) > 12 {
		c.ids = slices.Delete(c.ids, 2, 3)
	}
	what := fmt.Sprintf("join %d %+v", c.next+1, r)
	c.apply(what, c.machine.Join(c.request(what), r))
}

func (c *chaos) sync() {
	r := group.SyncRequest{Identity: c.identity()}
	for _, id := range c.ids {
		r.Assignments = append(r.Assignments, group.Assignment{MemberID: id, Data: []byte(id)})
	}
	what := fmt.Sprintf("sync %d %+v", c.next+1, r.Identity)
	c.apply(what, c.machine.Sync(c.request(what), r))
}

func (c *chaos) expire() {
	running := slices.SortedFunc(maps.Keys(c.timers), func(a, b group.Timer) int {
		if a.Kind != b.Kind {
			return int(a.Kind) - int(b.Kind)
		}
		return slices.Compare([]byte(a.Member), []byte(b.Member))
	})
	if len(running) == 0 {
		return
	}
	timer := running[c.random.IntN(len(running))]
	delete(c.timers, timer)
	c.apply(fmt.Sprintf("expire %v", timer), c.machine.Expired(timer))
}

func (c *chaos) apply(what string, e group.Effects) {
	c.history = append(c.history, what)
	for _, change := range e.Timers {
		if change.Stop {
			delete(c.timers, change.Timer)
		} else {
			c.timers[change.Timer] = true
		}
	}
	for _, a := range e.Joins {
		c.answered(a.Request)
	}
	for _, a := range e.Syncs {
		c.answered(a.Request)
	}
}

func (c *chaos) answered(request group.RequestID) {
	if _, open := c.open[request]; !open {
		c.t.Errorf("seed %d: request %d was answered twice\n%v", c.seed, request, c.history)
	}
	delete(c.open, request)
}

func (c *chaos) check() {
	fail := func(format string, args ...any) {
		c.t.Helper()
		c.t.Errorf("seed %d: %s\n%s", c.seed, fmt.Sprintf(format, args...), fmt.Sprint(c.history))
	}
	m := c.machine
	s := m.Snapshot(time.Now())
	state := m.State()
	if m.Generation() < c.generation {
		fail("generation %d follows %d", m.Generation(), c.generation)
	}
	c.generation = m.Generation()
	if empty := state == group.Empty; empty && len(s.Members) > 0 {
		fail("an empty group has members %+v", s.Members)
	}
	led := slices.ContainsFunc(s.Members, func(member group.MemberSnapshot) bool { return member.MemberID == s.Leader })
	if led != (len(s.Members) > 0) {
		fail("leader %q of %+v", s.Leader, s.Members)
	}
	if len(s.Members) > c.config.MaxSize {
		fail("%d members", len(s.Members))
	}
	switch state {
	case group.PreparingRebalance:
		if !c.timers[group.Timer{Kind: group.JoinTimer}] {
			fail("nothing ends the joining")
		}
	case group.CompletingRebalance:
		if !c.timers[group.Timer{Kind: group.SyncTimer}] && !c.timers[group.Timer{Kind: group.SessionTimer, Member: s.Leader}] {
			fail("nothing ends the wait for the leader")
		}
	case group.Stable:
		for _, member := range s.Members {
			if !c.timers[group.Timer{Kind: group.SessionTimer, Member: member.MemberID}] && !c.timers[group.Timer{Kind: group.SyncTimer}] {
				fail("nothing ends the session of %s", member.MemberID)
			}
		}
		if _, effects := group.Restore(c.config, s); len(effects.Timers) != len(s.Members) {
			fail("restored with %+v", effects)
		}
	default:
	}
}
