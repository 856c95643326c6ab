package protocol

import (
	"context"
	"errors"
	"net"

	"github.com/kaas-rs/kaas/kaas-codec"
)

// ErrServerClosed is what Listen and Serve return once the server has been shut down or closed.
var ErrServerClosed = errors.New("server is closed")

// Server accepts connections and dispatches their requests.
type Server struct {
	config Config
}

// New checks the configuration and returns a server that has opened nothing yet. Its error names every
// problem found: missing or repeated listener names, unknown or repeated API keys, certificates that do not load.
func New(config Config) (*Server, error) {
	return &Server{config: config}, nil
}

// Listen binds every listener, or none: its error names the listener and the address.
func (s *Server) Listen() error { return nil }

// Addr is the address that a listener is bound to, nil before Listen and for an unknown name.
func (s *Server) Addr(listener string) net.Addr { return nil }

// Advertised lists the keys that have a handler, ApiVersions included, ascending, with the versions that
// ApiVersions announces.
func (s *Server) Advertised() []codec.ApiSpec { return nil }

// Serve accepts and serves connections, after Listen, until the context ends (which closes every connection
// at once) or Shutdown or Close is called, and returns when every goroutine of the server has ended. It
// returns nil after an orderly end.
func (s *Server) Serve(ctx context.Context) error { return nil }

// Shutdown stops accepting, closes idle connections, lets the requests in flight finish and closes each
// connection after its last response. When the context ends first the remaining connections are closed at
// once and the context's error is returned.
func (s *Server) Shutdown(ctx context.Context) error { return nil }

// Close closes listeners and connections at once and waits for their goroutines.
func (s *Server) Close() error { return nil }
