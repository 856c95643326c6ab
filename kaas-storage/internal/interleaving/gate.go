package interleaving

import (
	"cmp"
	"errors"
	"slices"
	"sync"
)

// errAborted ends every call of a run that is over, so that its goroutines come to an end.
var errAborted = errors.New("run is over")

// call is a file call, or a command of a program, that waits for its turn.
type call struct {
	owner *Owner
	text  string
	turn  chan struct{}
}

func (c *call) String() string { return c.owner.name + ": " + c.text }

// gate holds every call until the scheduler lets one go.
type gate struct {
	mu      sync.Mutex
	waiting []*call
	aborted bool
}

// pass returns when it is the call's turn, or an error when the run is over.
func (g *gate) pass(c *call) error {
	g.mu.Lock()
	if g.aborted {
		g.mu.Unlock()
		return errAborted
	}
	c.turn = make(chan struct{})
	g.waiting = append(g.waiting, c)
	g.mu.Unlock()
	<-c.turn
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.aborted {
		return errAborted
	}
	return nil
}

// calls lists who waits, in an order that does not depend on who came first.
func (g *gate) calls() []*call {
	g.mu.Lock()
	defer g.mu.Unlock()
	waiting := slices.Clone(g.waiting)
	slices.SortFunc(waiting, func(a, b *call) int {
		return cmp.Or(cmp.Compare(a.owner.name, b.owner.name), cmp.Compare(a.text, b.text))
	})
	return waiting
}

func (g *gate) release(c *call) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting = slices.DeleteFunc(g.waiting, func(other *call) bool { return other == c })
	close(c.turn)
}

func (g *gate) abort() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.aborted = true
	for _, c := range g.waiting {
		close(c.turn)
	}
	g.waiting = nil
}
