package interleaving

import (
	"math"
	"testing"
	"time"

	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
	"github.com/kaas-rs/kaas/kaas-storage/vfs/fileserver"
)

// smallSegments makes every second batch begin a segment.
func smallSegments() storage.Config {
	c := storage.DefaultConfig()
	c.SegmentBytes = 200
	c.IndexInterval = 1
	return c
}

// quiet leaves every timer of the engine out.
func quiet() storage.Options {
	return storage.Options{RetentionInterval: -1, IdleAfter: 1 << 50, CompactionInterval: -1}
}

func twoOwners() Plan {
	return Plan{
		Name:    "old leader and taker",
		Prelude: []Step{Take(), Append(0)},
		Owners: []OwnerPlan{
			{"old", "1", []Step{Append(0), Append(0)}},
			{"taker", "2", []Step{Take(), Append(0)}},
		},
		Config: smallSegments(), Options: quiet(), Coarse: true,
	}
}

// bounded is a plan with how often a schedule may leave an owner that could go on; negative: no limit.
type bounded struct {
	plan     Plan
	switches int
}

func shortPrograms() []bounded {
	return []bounded{
		{fine(twoOwners()), -1},
		{withCrash(twoOwners()), -1},
		{delayed(twoOwners()), 3},
		{deleting(twoOwners()), 3},
		{retaining(), 2},
		{samePod(), 3},
		{staleSizes(), 1},
		{threeOwners(), 1},
		{slowTaker(), 2},
		{handingOver(), 2},
		{withCrash(unsyncedClaim()), 1},
		{reusedEpoch(), 2},
		{withCrash(overtakenTaker()), 1},
		{lostClaim(), 1},
		{destroying(), 1},
		{openOverTakeover(), -1},
		{withCrash(openOverTakeover()), 2},
		{delayed(openOverTakeover()), 2},
		{markerOfOldOwner(), 2},
		{withCrash(abortedBeforeHandover()), 2},
		{compacting(), 2},
		{withCrash(compacting()), 1},
		{delayed(compacting()), 2},
		{compactingOwners(), 1},
		{compactingBeside(), 0},
		{withCrash(compactingTwice()), 1},
		{compactingTransactions(), 1},
	}
}

// Every schedule of short programs, within bounds. KAAS_SWITCHES widens them, KAAS_RUNS is the most runs of one program: without it every schedule is
// run, whatever their number.
func TestShortPrograms(t *testing.T) {
	for _, c := range shortPrograms() {
		t.Run(c.plan.Name, func(t *testing.T) {
			t.Parallel()
			switches := c.switches
			if switches >= 0 {
				switches += int(number(t, "KAAS_SWITCHES", 0))
			}
			began := time.Now()
			found, runs, complete := explore(t, c.plan, switches, int(number(t, "KAAS_RUNS", math.MaxInt32)))
			if found != nil {
				t.Fatal(found)
			}
			t.Logf("%d runs, complete: %t, %v", runs, complete, time.Since(began))
		})
	}
}

func withCrash(p Plan) Plan {
	p.Name += ", server crash"
	p.Crashes = 1
	return p
}

func always() bool { return true }

func fine(p Plan) Plan {
	p.Name += ", every call"
	p.Coarse = false
	return p
}

func delayed(p Plan) Plan {
	p.Name += ", late writes"
	p.Policy = func() fileserver.Policy { return fileserver.Policy{Stale: always, Delay: always} }
	return p
}

func deleting(p Plan) Plan {
	p.Name = "deleting leader and taker"
	p.Prelude = []Step{Take(), Append(0), Append(0), Append(0), Append(0), Append(0), DeleteRecords(4)}
	p.Owners[0].Steps = []Step{DeleteRecords(1)}
	return p
}

// retaining is a leader whose retention moves the log start while another takes over.
func retaining() Plan {
	p := twoOwners()
	p.Name = "retaining leader and taker"
	p.Prelude = []Step{Take(), Append(0), Append(0), Append(0), Append(0), Append(0)}
	p.Owners[0].Steps = []Step{Append(0)}
	p.Config.RetentionBytes, p.Config.RetentionAge = 200, -1
	p.Options.RetentionInterval = time.Second
	p.Background, p.Pauses = true, 1
	return p
}

func threeOwners() Plan {
	return Plan{
		Name:    "old leader and two takers",
		Prelude: []Step{Take(), Append(0)},
		Owners: []OwnerPlan{
			{"old", "1", []Step{Append(0)}},
			{"first", "2", []Step{Take(), Append(0)}},
			{"second", "3", []Step{Take(), Append(0)}},
		},
		Config: smallSegments(), Options: quiet(), Coarse: true,
	}
}

// slowTaker is a taker that others overtake twice, so that its epoch is below the newest one.
func slowTaker() Plan {
	p := twoOwners()
	p.Name = "two takers, one of them twice"
	p.Owners = []OwnerPlan{
		{"old", "1", nil},
		{"slow", "2", []Step{Take(), Append(0)}},
		{"quick", "3", []Step{Take(), Abandon(), Take(), Append(0)}},
	}
	return p
}

// handingOver is a leader that hands over while others take over.
func handingOver() Plan {
	p := twoOwners()
	p.Name = "handover and two takers"
	p.Owners = []OwnerPlan{
		{"old", "1", []Step{Append(0), Handover()}},
		{"slow", "2", []Step{Take(), Append(0)}},
		{"quick", "3", []Step{Take(), Append(0), Handover()}},
	}
	return p
}

// unsyncedClaim is a partition without a claim, so that a taker has none to remove, and a leader that moves the log start.
func unsyncedClaim() Plan {
	p := twoOwners()
	p.Name = "two takers after a handover"
	p.Prelude = []Step{Take(), Append(0), Append(0), Handover()}
	p.Owners = []OwnerPlan{
		{"old", "1", nil},
		{"slow", "2", []Step{Take()}},
		{"quick", "3", []Step{Take(), Append(0), DeleteRecords(0)}},
	}
	return p
}

// reusedEpoch is a taker whose epoch another one leads at and hands over first, while the manifest that both begin with is still there.
func reusedEpoch() Plan {
	p := unsyncedClaim()
	p.Name = "a taker whose epoch was used"
	p.Owners[2].Steps = []Step{Take(), Append(0), Handover()}
	p.Removals = true
	return p
}

// overtakenTaker is a taker that another overtakes, while the leader waits.
func overtakenTaker() Plan {
	p := threeOwners()
	p.Name = "leader, taker, and a taker that overtakes it"
	p.Owners[1].Steps = []Step{Take()}
	p.Owners[2].Steps = []Step{Take()}
	p.Losses = []loss{{"what the first taker did is lost", func(c fileserver.Change) bool { return c.Client != "2" }}}
	return p
}

// lostClaim is a crash that undoes the claim of a taker and not what it removed.
func lostClaim() Plan {
	p := withCrash(unsyncedClaim())
	p.Name = "a taker's claim is lost at a server crash"
	p.Owners = append(p.Owners, OwnerPlan{"thief", "4", []Step{Take()}})
	p.Losses = []loss{{"directories that were made are lost", func(c fileserver.Change) bool { return c.Kind != vfs.ChangeMkdir }}}
	return p
}

// openOverTakeover is a transaction that one leader begins and another may end, each with the same decision.
func openOverTakeover() Plan {
	p := twoOwners()
	p.Name = "open transaction, old leader and taker"
	p.Prelude = []Step{Take(), Transact(0)}
	p.Owners = []OwnerPlan{
		{"old", "1", []Step{Transact(0)}},
		{"taker", "2", []Step{Take(), Transact(0)}},
	}
	return p
}

// markerOfOldOwner is a marker that is late at its leader, while a taker is told the same, and the next transaction begins there.
func markerOfOldOwner() Plan {
	p := openOverTakeover()
	p.Name = "next transaction at the taker, late marker at the old leader"
	p.Prelude = []Step{Take(), Transact(0), Transact(1)}
	p.Owners = []OwnerPlan{
		{"old", "1", []Step{SendTransact(0), Repeat(0), Transact(1)}},
		{"taker", "2", []Step{Take(), Transact(0), Transact(0), Repeat(0), Transact(1)}},
	}
	return p
}

// abortedBeforeHandover is an aborted transaction that is in a file only, when the server crashes.
func abortedBeforeHandover() Plan {
	p := twoOwners()
	p.Name = "aborted transaction, handed over"
	p.Prelude = []Step{Take(), Transact(0), Transact(0), Append(0), Handover()}
	p.Owners = []OwnerPlan{
		{"old", "1", nil},
		{"taker", "2", []Step{Take(), Transact(0), Transact(1)}},
	}
	return p
}

// staleListing is the one that brings attributes: the taker's first, after the one that made the directory and the leader's two.
const staleListing = 4

// staleSizes is a client that knows the size that a segment had before it grew.
func staleSizes() Plan {
	p := twoOwners()
	p.Name = "a taker with stale attributes"
	p.Owners = []OwnerPlan{
		{"old", "1", []Step{Append(0), Append(0), Append(0), Handover()}},
		{"taker", "2", []Step{Take()}},
	}
	p.Policy = func() fileserver.Policy {
		listings := 0
		return fileserver.Policy{Stale: always, Attributes: func() bool { listings++; return listings == staleListing }}
	}
	return p
}

// samePod is a second process on the leader's machine.
func samePod() Plan {
	p := deleting(twoOwners())
	p.Name = "two processes of one client"
	p.Owners[1].Client = "1"
	return p
}

// destroying is a partition that is deleted while one leads and one takes over.
func destroying() Plan {
	p := twoOwners()
	p.Name = "deletion"
	p.Owners = []OwnerPlan{
		{"old", "1", []Step{Append(0)}},
		{"taker", "2", []Step{Take(), Append(0)}},
		{"deleter", "3", []Step{Destroy(), Destroy()}},
	}
	return p
}
