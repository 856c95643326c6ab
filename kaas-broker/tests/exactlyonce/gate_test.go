package exactlyonce

import (
	"net"
	"sync"
)

// gate holds whoever passes while it is shut: a process that is frozen.
type gate struct {
	mu   sync.Mutex
	held chan struct{} // nil: open
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

func (g *gate) pass() {
	g.mu.Lock()
	held := g.held
	g.mu.Unlock()
	if held != nil {
		<-held
	}
}

// gated is a connection of a process that may be frozen: nothing goes out meanwhile, and nothing that came in is looked at.
type gated struct {
	net.Conn
	gate *gate
}

func (g *gated) Read(p []byte) (int, error) {
	n, err := g.Conn.Read(p)
	g.gate.pass()
	return n, err
}

func (g *gated) Write(p []byte) (int, error) {
	g.gate.pass()
	return g.Conn.Write(p)
}
