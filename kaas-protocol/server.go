package protocol

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/kaas-rs/kaas/kaas-codec"
)

// ErrServerClosed is what Listen and Serve return once the server has been shut down or closed, and what a
// second Serve returns.
var ErrServerClosed = errors.New("server is closed")

// Server accepts connections and dispatches their requests.
type Server struct {
	config    Config
	limits    Limits
	gate      *gate
	meters    *meters
	records   *budget // of Produce requests, and of the first 64 KiB of all others while they arrive
	plain     *budget // of all others
	admission *admission
	frames    framePool
	buffers   buffers
	listeners []*listener
	serial    atomic.Uint64

	refusals sometimes

	// draining is closed by Shutdown, stopping by Close, finished when nothing of the server is left.
	draining, stopping, finished chan struct{}

	mutex       sync.Mutex
	phase       phase
	connections map[*connection]struct{}
	ended       chan struct{} // holds one token when a connection has ended
	goroutines  sync.WaitGroup
}

// phase is how far a server has come.
type phase int

const (
	phaseNew phase = iota
	phaseListening
	phaseServing
	phaseDraining
	phaseClosed
)

// New checks the configuration and returns a server that has opened nothing yet. Its error names every
// problem found: missing or repeated listener names, unknown or repeated API keys, certificates that do not load.
func New(config Config) (*Server, error) {
	problems := []error{config.validate()}
	config.Listeners, config.APIs = slices.Clone(config.Listeners), slices.Clone(config.APIs)
	limits := config.Limits.withDefaults()
	s := &Server{
		config:      config,
		limits:      limits,
		records:     &budget{limit: limits.TotalInFlightBytes},
		plain:       &budget{limit: limits.TotalPlainBytes},
		admission:   newAdmission(limits),
		draining:    make(chan struct{}),
		stopping:    make(chan struct{}),
		finished:    make(chan struct{}),
		connections: make(map[*connection]struct{}),
		ended:       make(chan struct{}, 1),
	}
	for _, listening := range config.Listeners {
		l := &listener{server: s, config: listening, rate: newRate(listening.ConnectionRate)}
		if listening.TLS != nil {
			var err error
			log := config.Logger.With().Str("listener", listening.Name).Logger()
			if l.certificates, err = loadCertificates(*listening.TLS, log); err != nil {
				problems = append(problems, fmt.Errorf("listener %s: %w", listening.Name, err))
			}
		}
		s.listeners = append(s.listeners, l)
	}
	var err error
	if s.meters, err = newMeters(config.MeterProvider); err != nil {
		problems = append(problems, fmt.Errorf("create metrics: %w", err))
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	s.gate = newGate(config.APIs, s.meters)
	return s, nil
}

// Listen binds every listener, or none: its error names the listener and the address.
func (s *Server) Listen() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.phase != phaseNew {
		return ErrServerClosed
	}
	for _, l := range s.listeners {
		if err := l.bind(context.Background()); err != nil {
			s.unbindLocked()
			return err
		}
	}
	s.phase = phaseListening
	return nil
}

// Addr is the address that a listener is bound to, nil before Listen and for an unknown name.
func (s *Server) Addr(listener string) net.Addr {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, l := range s.listeners {
		if l.config.Name == listener && l.bound != nil {
			return l.bound.Addr()
		}
	}
	return nil
}

// Advertised lists the keys that have a handler, ApiVersions included, ascending, with the versions that
// ApiVersions announces.
func (s *Server) Advertised() []codec.ApiSpec { return slices.Clone(s.gate.advertised) }

// unbindLocked closes what has been bound.
func (s *Server) unbindLocked() {
	for _, l := range s.listeners {
		if l.bound != nil {
			l.bound.Close()
		}
	}
}
