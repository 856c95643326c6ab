package coordinator_test

import (
	"errors"
	"sync"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// gate holds the calls of one process to its file system while it is shut, and fails them once the power is gone.
type gate struct {
	of func(op vfs.Op) bool // the calls that are held; nil: all

	mu   sync.Mutex
	held chan struct{} // nil: open
	dead bool
}

var errPower = errors.New("power cut")

func (g *gate) cut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.dead = true
}

func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.held == nil {
		g.held = make(chan struct{})
	}
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.held != nil {
		close(g.held)
		g.held = nil
	}
}

func (g *gate) hook(op vfs.Op) error {
	g.mu.Lock()
	held := g.held
	g.mu.Unlock()
	if held != nil && !op.After && (g.of == nil || g.of(op)) {
		<-held
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.dead {
		return errPower
	}
	return nil
}

// holding is a gate for one kind of call.
func holding(kind vfs.OpKind) *gate {
	return &gate{of: func(op vfs.Op) bool { return op.Kind == kind }}
}
