package interleaving

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
)

// decision is one point of a schedule where more than one thing could happen.
type decision struct {
	chosen  int
	options int
	text    string // of the chosen option, to notice that a run does not repeat
}

// explorer walks all schedules of a plan, depth first. It runs each from the beginning. A state that it has been in is not explored again.
type explorer struct {
	plan     Plan
	switches int // from an owner that could go on to another, at most; negative: no limit
	visited  map[uint64]int
	runs     int
	maxRuns  int

	prefix []decision
	path   []decision
	left   int
	last   *Owner
}

// explore returns the first outcome that violates, and how many runs were made. complete says whether every schedule within the bounds was tried.
func explore(t *testing.T, plan Plan, switches, maxRuns int) (found *outcome, runs int, complete bool) {
	e := &explorer{plan: plan, switches: switches, maxRuns: maxRuns, visited: make(map[uint64]int)}
	for {
		var out outcome
		e.path, e.left, e.last = nil, switches, nil
		synctest.Test(t, func(*testing.T) { out = run(plan, e.choose) })
		e.runs++
		if out.verdict != nil {
			return &out, e.runs, false
		}
		if !e.next() {
			return nil, e.runs, true
		}
		if e.runs >= e.maxRuns {
			return nil, e.runs, false
		}
	}
}

// next turns the last decision that has an untried option.
func (e *explorer) next() bool {
	for len(e.path) > 0 {
		last := &e.path[len(e.path)-1]
		if last.chosen+1 < last.options {
			last.chosen++
			last.text = ""
			e.prefix = slices.Clone(e.path)
			return true
		}
		e.path = e.path[:len(e.path)-1]
	}
	return false
}

// choose orders the options so that the first one goes on with the same owner, and leaves out those that cost more switches than are left.
func (e *explorer) choose(w *world, options []option) int {
	order := e.affordable(options)
	if len(order) == 1 {
		return e.take(options, order[0])
	}
	depth := len(e.path)
	if depth < len(e.prefix) {
		d := e.prefix[depth]
		if d.chosen >= len(order) || d.text != "" && options[order[d.chosen]].String() != d.text {
			w.judge.verdict = fmt.Errorf("the run does not repeat: decision %d was %q", depth, d.text)
			return -1
		}
		d.text, d.options = options[order[d.chosen]].String(), len(order)
		e.path = append(e.path, d)
		return e.take(options, order[d.chosen])
	}
	if e.seen(w) {
		return -1
	}
	e.path = append(e.path, decision{options: len(order), text: options[order[0]].String()})
	return e.take(options, order[0])
}

func (e *explorer) seen(w *world) bool {
	digest := w.digest()
	if e.last != nil && e.switches >= 0 {
		digest ^= uint64(len(e.last.name))<<56 ^ uint64(e.last.name[0])<<48
	}
	if left, ok := e.visited[digest]; ok && left >= e.left {
		return true
	}
	e.visited[digest] = e.left
	return false
}

func (e *explorer) affordable(options []option) []int {
	var going, others []int
	for i, o := range options {
		if o.call != nil && o.call.owner == e.last {
			going = append(going, i)
		} else {
			others = append(others, i)
		}
	}
	if len(going) > 0 && e.left == 0 {
		return append(going, crashes(options, others)...)
	}
	return append(going, others...)
}

// crashes are free: their number has a bound of its own.
func crashes(options []option, indexes []int) []int {
	var all []int
	for _, i := range indexes {
		if options[i].loss != nil {
			all = append(all, i)
		}
	}
	return all
}

func (e *explorer) take(options []option, chosen int) int {
	c := options[chosen].call
	if c == nil {
		return chosen
	}
	if e.last != nil && c.owner != e.last && e.left > 0 {
		for _, o := range options {
			if o.call != nil && o.call.owner == e.last {
				e.left--
				break
			}
		}
	}
	e.last = c.owner
	return chosen
}
