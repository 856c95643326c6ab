package interleaving

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs/fileserver"
)

// randomPlan makes a long program and its schedule from a seed.
func randomPlan(seed uint64) (Plan, chooser) {
	r := rand.New(rand.NewPCG(seed, 1))
	plan := Plan{
		Name:    fmt.Sprintf("seed %d", seed),
		Prelude: []Step{Take(), Append(0), Append(Plain)},
		Policy:  func() fileserver.Policy { return randomPolicy(seed) },
		Crashes: r.IntN(3),
		Pauses:  r.IntN(4),
		Config:  randomConfig(r),
		Options: storage.Options{RetentionInterval: -1, IdleAfter: time.Hour, CompactionInterval: -1},
	}
	if r.IntN(3) == 0 {
		plan.Background = true
		plan.Pauses = 8
		plan.Options = storage.Options{RetentionInterval: time.Second, IdleAfter: time.Hour, CompactionInterval: -1}
	}
	share := r.Float64()
	plan.Losses = []loss{
		{"a random part is lost", func(fileserver.Change) bool { return r.Float64() < share }},
		{"everything is lost", func(fileserver.Change) bool { return false }},
	}
	owners, clients, deletes := 2+r.IntN(3), 1+r.IntN(3), r.IntN(12) == 0
	for i := range owners {
		steps := randomSteps(r, i > 0, 2+r.IntN(7))
		if deletes && i == owners-1 {
			steps = append(steps, Destroy(), Destroy())
		}
		plan.Owners = append(plan.Owners, OwnerPlan{Name: fmt.Sprintf("owner%d", i), Client: strconv.Itoa(r.IntN(clients)), Steps: steps})
	}
	if seed%3 == 0 {
		withCompaction(&plan, rand.New(rand.NewPCG(seed, 3)))
	}
	return plan, randomChooser(r)
}

// withCompaction lets the owners compact the log now and then.
func withCompaction(plan *Plan, r *rand.Rand) {
	plan.Config.Compact, plan.Config.DeleteRetention = true, time.Duration(r.IntN(3))*time.Second
	for i := range plan.Owners {
		steps := &plan.Owners[i].Steps
		for range 1 + r.IntN(3) {
			step := Compact()
			if r.IntN(3) == 0 {
				step = SendCompact()
			}
			*steps = slices.Insert(*steps, r.IntN(len(*steps)+1), step)
		}
	}
}

// randomPolicy has a source of its own: the server asks it under its lock, beside the scheduler.
func randomPolicy(seed uint64) fileserver.Policy {
	r := rand.New(rand.NewPCG(seed, 2))
	chance := func() func() bool {
		share := []float64{0, 0.5, 1}[r.IntN(3)]
		return func() bool { return r.Float64() < share }
	}
	return fileserver.Policy{Stale: chance(), Delay: chance(), Attributes: chance()}
}

func randomConfig(r *rand.Rand) storage.Config {
	c := storage.DefaultConfig()
	c.SegmentBytes = int64(100 + r.IntN(300))
	c.IndexInterval = 1 + r.IntN(200)
	if r.IntN(3) == 0 {
		c.RetentionBytes = int64(100 + r.IntN(500))
	}
	return c
}

func randomSteps(r *rand.Rand, takes bool, n int) []Step {
	var steps []Step
	if takes {
		steps = append(steps, Take())
	}
	for range n {
		switch r.IntN(16) {
		case 0, 1:
			steps = append(steps, Take())
		case 2:
			steps = append(steps, Handover())
		case 3:
			steps = append(steps, DeleteRecords(int64(r.IntN(4))))
		case 4:
			steps = append(steps, Abandon())
		case 12, 13:
			steps = append(steps, Transact(r.IntN(transactors)))
		case 14:
			steps = append(steps, SendTransact(r.IntN(transactors)))
		case 15:
			steps = append(steps, Repeat(r.IntN(transactors)))
		case 5, 6:
			steps = append(steps, Send(r.IntN(producers+1)))
		default:
			steps = append(steps, Append(r.IntN(producers+1)))
		}
	}
	return steps
}

// randomChooser has three ways to choose: anybody, mostly the same, or the one of the highest priority until priorities change.
func randomChooser(r *rand.Rand) chooser {
	way := r.IntN(3)
	priorities := map[*Owner]float64{}
	var last *Owner
	return func(_ *world, options []option) int {
		if special := chooseSpecial(r, options); special >= 0 {
			return special
		}
		var calls []int
		best := -1
		if r.IntN(25) == 0 {
			clear(priorities)
		}
		for i, o := range options {
			if o.call == nil {
				continue
			}
			calls = append(calls, i)
			owner := o.call.owner
			if _, ok := priorities[owner]; !ok {
				priorities[owner] = r.Float64()
			}
			better := best < 0 || priorities[owner] > priorities[options[best].call.owner]
			if way == 1 {
				better = best < 0 || owner == last && r.IntN(8) > 0
			}
			if better {
				best = i
			}
		}
		if way == 0 || way == 1 && options[best].call.owner != last || r.IntN(10) == 0 {
			best = calls[r.IntN(len(calls))]
		}
		last = options[best].call.owner
		return best
	}
}

// chooseSpecial now and then picks a crash or a pause.
func chooseSpecial(r *rand.Rand, options []option) int {
	var special []int
	for i, o := range options {
		if o.call == nil {
			special = append(special, i)
		}
	}
	if len(special) == 0 || len(special) < len(options) && r.IntN(30) > 0 {
		return -1
	}
	return special[r.IntN(len(special))]
}
