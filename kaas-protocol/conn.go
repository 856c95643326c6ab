package protocol

import (
	"crypto/tls"
	"net"
	"sync"
	"time"
)

// Anonymous is the principal of a connection on a listener without authentication.
const Anonymous = "User:ANONYMOUS"

// ConnInfo is what is known of a connection when it has been accepted.
type ConnInfo struct {
	// ID is unique within the process: local address, remote address and a counter.
	ID string
	// Listener is the name of the listener that accepted the connection.
	Listener string
	// Local and Remote are the addresses of both ends.
	Local, Remote net.Addr
	// TLS is the state after the handshake; nil on plaintext connections.
	TLS *tls.ConnectionState
	// Principal is who the peer is; empty means not authenticated yet.
	Principal string
	// Draining is closed when the server begins to drain; nil never is.
	Draining <-chan struct{}
}

// Conn is a connection as handlers see it. It is safe for concurrent use.
type Conn struct {
	info ConnInfo

	mutex     sync.Mutex
	principal string
	expires   time.Time
	software  struct{ name, version string }
}

// NewConn returns a Conn that belongs to no socket, for tests of handlers and for calls from within the process.
func NewConn(info ConnInfo) *Conn {
	return &Conn{info: info, principal: info.Principal}
}

// ID is unique within the process and fit for logs.
func (c *Conn) ID() string { return c.info.ID }

// Listener is the name of the listener that accepted the connection: answers that name brokers use that
// listener's advertised address.
func (c *Conn) Listener() string { return c.info.Listener }

// Local is the address of this end.
func (c *Conn) Local() net.Addr { return c.info.Local }

// Remote is the address of the client's end.
func (c *Conn) Remote() net.Addr { return c.info.Remote }

// TLS is the state after the handshake, nil on plaintext connections.
func (c *Conn) TLS() *tls.ConnectionState { return c.info.TLS }

// Draining is closed when the server begins to drain: a parked request (a long poll) should then answer with
// what it has. Nil for a Conn without a server.
func (c *Conn) Draining() <-chan struct{} { return c.info.Draining }

// Principal is who the client is, for example "User:alice"; empty before authentication.
func (c *Conn) Principal() string {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.principal
}

// Authenticated reports whether the connection has a principal whose session has not expired.
func (c *Conn) Authenticated(now time.Time) bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.principal != "" && (c.expires.IsZero() || now.Before(c.expires))
}

// Authenticate records the principal of a completed authentication. From expires on only a new authentication
// is admitted (KIP-368); the zero time never expires.
func (c *Conn) Authenticate(principal string, expires time.Time) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.principal, c.expires = principal, expires
}

// ClientSoftware is the name and version that the client gave in ApiVersions v3 or later (KIP-511); empty when unknown.
func (c *Conn) ClientSoftware() (name, version string) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.software.name, c.software.version
}

// SetClientSoftware records the client's software name and version.
func (c *Conn) SetClientSoftware(name, version string) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.software.name, c.software.version = name, version
}
