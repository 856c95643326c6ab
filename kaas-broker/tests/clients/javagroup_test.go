package clients

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

// The Java consumer with each of its assignors, while members come, leave and vanish, and over kill -9 of the broker. Those of 4.3.1 always leave when they are
// closed: they do not know the setting that keeps them from it.
func TestJavaGroupUnderChurn(t *testing.T) {
	broker := harness.Start(t, harness.Options{Overrides: inChurn})
	for _, version := range []string{java37, java43} {
		for _, assignor := range []string{"range", "sticky", "cooperative-sticky"} {
			t.Run(version+" "+assignor, func(t *testing.T) {
				c := newChurn(t, broker)
				members := newJavaCrewOf(t, version, broker.Bootstrap(), c.topic, c.group, assignor, c.witness)
				c.crew = members
				c.run(harness.Rounds(6, 40), true)
				members.finish()
			})
		}
	}
}

// Members of both versions in one group, which the assignor of either may lead, come and go.
func TestJavaGroupOfTwoVersions(t *testing.T) {
	broker := harness.Start(t, harness.Options{Overrides: inChurn})
	c := newChurn(t, broker)
	old := newJavaCrewOf(t, java37, broker.Bootstrap(), c.topic, c.group, "cooperative-sticky", c.witness)
	recent := newJavaCrewOf(t, java43, broker.Bootstrap(), c.topic, c.group, "cooperative-sticky", c.witness)
	c.crew = &mixedCrew{crews: [2]*javaCrew{old, recent}, of: map[string]*javaCrew{}}
	c.run(harness.Rounds(6, 40), true)
	old.finish()
	recent.finish()
}

// mixedCrew takes its members from two crews by turns.
type mixedCrew struct {
	crews [2]*javaCrew
	of    map[string]*javaCrew
}

func (c *mixedCrew) join(name string, silent bool) {
	c.of[name] = c.crews[len(c.of)%len(c.crews)]
	c.of[name].join(name, silent)
}

func (c *mixedCrew) end(name string) { c.of[name].end(name) }

// A group of the Java consumer whose members each test names, with records to read.
func javaGroup(t *testing.T, assignor string, settings ...string) (*javaCrew, *harness.Broker) {
	t.Helper()
	return javaGroupOf(t, java37, assignor, settings...)
}

func javaGroupOf(t *testing.T, version, assignor string, settings ...string) (*javaCrew, *harness.Broker) {
	t.Helper()
	broker := harness.Start(t, harness.Options{Overrides: inChurn})
	topic := uniqueName(t)
	createTopic(t, broker.Bootstrap(), topic, churnPartitions)
	for partition := range int32(churnPartitions) {
		franzProduceTo(t, broker.Bootstrap(), topic, partition, 5)
	}
	w := newWitness(t, churnPartitions)
	return newJavaCrewOf(t, version, broker.Bootstrap(), topic, topic, assignor, w, settings...), broker
}

func (c *javaCrew) settle(members ...string) {
	c.t.Helper()
	eventually(c.t, 30*time.Second, func() error {
		if c.witness.settled(members...) {
			return nil
		}
		var views string
		for _, member := range members {
			views += fmt.Sprintf(" %s %+v", member, c.witness.view(member))
		}
		return fmt.Errorf("the group has not settled:%s", views)
	})
}

// With range each member gets neighbors; when one leaves, the others share everything.
func TestJavaRangeAssignor(t *testing.T) {
	members, _ := javaGroup(t, "range")
	for _, name := range []string{"a", "b", "c"} {
		members.start(name)
	}
	members.settle("a", "b", "c")
	for _, name := range []string{"a", "b", "c"} {
		view := members.witness.view(name)
		if len(view.partitions) != 2 {
			t.Errorf("%s has %v, want two", name, view.partitions)
		}
		for partition := range view.partitions {
			if first := partition / 2 * 2; !view.partitions[first] || !view.partitions[first+1] {
				t.Errorf("%s has %v, which are no neighbors", name, view.partitions)
			}
		}
	}
	members.end("b")
	members.settle("a", "c")
	members.finish()
}

// What stays with a member when another one comes and goes: with sticky it is the most of it, with cooperative-sticky it is not even revoked.
func TestJavaStickyAssignors(t *testing.T) {
	for _, assignor := range []string{"sticky", "cooperative-sticky"} {
		t.Run(assignor, func(t *testing.T) {
			members, _ := javaGroup(t, assignor)
			members.start("a")
			members.settle("a")
			members.start("b")
			members.settle("a", "b")
			a, b := members.witness.view("a"), members.witness.view("b")
			members.start("c")
			members.settle("a", "b", "c")
			for name, before := range map[string]seat{"a": a, "b": b} {
				after := members.witness.view(name)
				kept := 0
				for partition := range after.partitions {
					if before.partitions[partition] {
						kept++
					}
				}
				if len(before.partitions) != 3 || len(after.partitions) != 2 || kept != 2 {
					t.Errorf("%s had %v and has %v", name, before.partitions, after.partitions)
				}
				// Eager: three go, two come. Cooperative: one goes.
				if moves, want := after.moves-before.moves, map[string]int{"sticky": 5, "cooperative-sticky": 1}[assignor]; moves != want {
					t.Errorf("%s has seen %d partitions come or go, want %d", name, moves, want)
				}
			}
			members.finish()
		})
	}
}

// A static member that restarts within its session comes back to its place: nobody rebalances and the generation stays. So it does when the broker
// is killed meanwhile. A leader of 4.x that can reach no broker at all forgets what it knew of the topics and begins anew with its bootstrap servers
// (KIP-899, what 4.0 does unless told otherwise), and then asks for a rebalance because the topics have changed: of that client this test takes the
// recovery of before.
func TestJavaStaticMembersRestart(t *testing.T) {
	for _, version := range []string{java37, java43} {
		t.Run(version, func(t *testing.T) { restartStaticMembers(t, version) })
	}
}

func restartStaticMembers(t *testing.T, version string) {
	t.Helper()
	members, broker := javaGroupOf(t, version, "range", "session.timeout.ms=20000", "metadata.recovery.strategy=none")
	names := []string{"a", "b", "c"}
	for _, name := range names {
		members.start(name, "group.instance.id="+name)
	}
	members.settle(names...)
	before := map[string]seat{}
	for _, name := range names {
		before[name] = members.witness.view(name)
	}
	for round := range harness.Rounds(4, 50) {
		name := names[round%len(names)]
		members.end(name)
		eventually(t, 10*time.Second, func() error {
			if !members.witness.view(name).closed {
				return fmt.Errorf("%s does not close", name)
			}
			return nil
		})
		if round%2 == 1 {
			broker.Kill(t)
			broker.Resume(t)
		}
		members.start(name, "group.instance.id="+name)
		members.settle(names...)
		for _, each := range names {
			want, got := before[each], members.witness.view(each)
			if got.generation != want.generation {
				t.Fatalf("round %d, %s restarts: %s is in generation %d, it was %d", round, name, each, got.generation, want.generation)
			}
			if each != name && (got.moves != want.moves || got.id != want.id) {
				t.Errorf("round %d, %s restarts: %s had %+v and has %+v", round, name, each, want, got)
			}
			if fmt.Sprint(got.partitions) != fmt.Sprint(want.partitions) {
				t.Errorf("round %d, %s restarts: %s had %v and has %v", round, name, each, want.partitions, got.partitions)
			}
			before[each] = got
		}
	}
	members.finish()
}

// A second member with the same instance id takes the place of the first, which is told so and ends.
func TestJavaStaticMemberIsFenced(t *testing.T) {
	members, _ := javaGroup(t, "range", "session.timeout.ms=20000")
	members.start("old", "group.instance.id=one")
	members.settle("old")
	members.witness.expectFailure("old", "FencedInstanceIdException")
	members.start("new", "group.instance.id=one")
	eventually(t, 20*time.Second, func() error {
		if view := members.witness.view("old"); !view.closed {
			return fmt.Errorf("the first member still runs: %+v", view)
		}
		return nil
	})
	members.settle("new")
	members.finish()
}

// A member that takes too long over its records is out of the group; its commit is refused, and what it has read is read again.
func TestJavaMemberThatStalls(t *testing.T) {
	members, broker := javaGroup(t, "range")
	limits := []string{"max.poll.interval.ms=1500", "session.timeout.ms=" + strconv.FormatInt(churnSession.Milliseconds(), 10)}
	members.start("slow", limits...)
	members.settle("slow")
	members.start("quick", limits...)
	members.settle("slow", "quick")
	slow := members.witness.view("slow")
	members.process.Say(t, "stall", "slow", "4000")
	for partition := range slow.partitions {
		franzProduceTo(t, broker.Bootstrap(), members.topic, partition, 5)
	}
	eventually(t, 20*time.Second, func() error {
		if members.witness.refusals() == 0 {
			return fmt.Errorf("the late commit is not refused")
		}
		return nil
	})
	members.settle("slow", "quick")
	ends := slices.Repeat([]int64{5}, churnPartitions)
	for partition := range slow.partitions {
		ends[partition] = 10
	}
	members.witness.finish(ends)
	members.finish()
}

// A member is frozen with records in its hands until another one has taken its place and read on. Its commit comes late, from a member that the group
// does not know any more.
func TestJavaMemberThatIsFrozen(t *testing.T) {
	frozen, broker := javaGroup(t, "range")
	session := "session.timeout.ms=" + strconv.FormatInt(churnSession.Milliseconds(), 10)
	frozen.start("frozen", session)
	frozen.settle("frozen")
	frozen.witness.finish(slices.Repeat([]int64{5}, churnPartitions))
	frozen.process.Say(t, "stall", "frozen", "1000")
	more := func() {
		for partition := range int32(churnPartitions) {
			franzProduceTo(t, broker.Bootstrap(), frozen.topic, partition, 5)
		}
	}
	reading := frozen.witness.readings()
	more()
	eventually(t, 20*time.Second, func() error {
		if frozen.witness.readings() == reading {
			return fmt.Errorf("the first member reads nothing")
		}
		return nil
	})
	frozen.process.Freeze()
	other := newJavaCrew(t, broker.Bootstrap(), frozen.topic, frozen.group, "range", frozen.witness)
	other.start("other", session)
	other.settle("other")
	more()
	other.witness.finish(slices.Repeat([]int64{15}, churnPartitions))
	refused := other.witness.refusals()
	frozen.process.Thaw()
	eventually(t, 20*time.Second, func() error {
		if other.witness.refusals() == refused {
			return fmt.Errorf("the late commit is not refused")
		}
		return nil
	})
	other.settle("frozen", "other")
	other.finish()
	frozen.finish()
}

// franzProduceTo writes so many records to one partition.
func franzProduceTo(t *testing.T, address, topic string, partition int32, count int) {
	t.Helper()
	producer := newFranz(t, address, kgo.DefaultProduceTopic(topic), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	for number := range count {
		producer.Produce(t.Context(), &kgo.Record{Partition: partition, Value: fmt.Append(nil, number)}, func(_ *kgo.Record, err error) {
			if err != nil {
				t.Errorf("produce to %s-%d: %v", topic, partition, err)
			}
		})
	}
	if err := producer.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}
