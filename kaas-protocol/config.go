package protocol

import (
	"context"
	"net"
	"time"

	"github.com/rs/zerolog"
	"go.opentelemetry.io/otel/metric"
)

// Config is what a Server is made from.
type Config struct {
	// Listeners to open; at least one, with distinct names.
	Listeners []Listener
	// APIs are the handlers, one row per key.
	APIs []API
	// Limits bound what clients can take; zero fields mean the default.
	Limits Limits
	// Logger receives what an operator should know; the zero value logs nothing.
	Logger zerolog.Logger
	// MeterProvider receives metrics; nil records none.
	MeterProvider metric.MeterProvider
}

// Listener is one address to accept connections on.
type Listener struct {
	// Name is the Kafka listener name, for example "PLAINTEXT" or "EXTERNAL".
	Name string
	// Address is host:port; an empty host means every interface, port 0 a free one.
	Address string
	// TLS makes the listener speak TLS; nil is plaintext.
	TLS *TLSConfig
	// Authenticator decides who clients are; nil makes every connection Anonymous.
	Authenticator Authenticator
	// MaxConnections and ConnectionRate (per second) bound this listener alone, in addition to the limits of
	// the same name; 0 is no bound.
	MaxConnections int
	ConnectionRate float64
	// Open replaces net.Listen("tcp", address), for inherited sockets and in-memory transports.
	Open func(ctx context.Context, address string) (net.Listener, error)
}

// Authenticator decides who a new connection is.
type Authenticator interface {
	// Begin runs once per connection, after the TLS handshake and before the first request. It returns the
	// principal, or "" when the client has to authenticate with SASL first; an error closes the connection.
	Begin(ctx context.Context, c *Conn) (principal string, err error)
}

// TLSConfig names the files of a TLS listener. They are read again when their content changes; a pair that
// cannot be loaded is logged and leaves the one before in use.
type TLSConfig struct {
	// CertFile and KeyFile are PEM files: the certificate chain, leaf first, and its key.
	CertFile, KeyFile string
	// ClientCAFile is a PEM file of the authorities that sign client certificates; needed unless ClientAuth
	// is ClientAuthNone.
	ClientCAFile string
	// ClientAuth is Kafka's ssl.client.auth.
	ClientAuth ClientAuth
	// ReloadInterval is how often the files are looked at; 0 means 10 s.
	ReloadInterval time.Duration
}

// ClientAuth says whether TLS clients present a certificate, as Kafka's ssl.client.auth.
type ClientAuth int

const (
	// ClientAuthNone does not ask for a certificate.
	ClientAuthNone ClientAuth = iota
	// ClientAuthRequested verifies a certificate that is given and accepts clients without one.
	ClientAuthRequested
	// ClientAuthRequired refuses clients without a valid certificate.
	ClientAuthRequired
)

// Limits bound what clients can take from the process. A zero field means the default named with it.
type Limits struct {
	// MaxConnections is Kafka's max.connections, over all listeners: further clients wait to be accepted.
	// Default: no bound.
	MaxConnections int
	// MaxConnectionsPerIP is Kafka's max.connections.per.ip: further connections of an address are closed at
	// once. Default: no bound; -1 admits only addresses that have an override.
	MaxConnectionsPerIP int
	// MaxConnectionsPerIPOverrides replaces MaxConnectionsPerIP for single addresses (IP literals).
	MaxConnectionsPerIPOverrides map[string]int
	// ConnectionRate is Kafka's max.connection.creation.rate, per second over all listeners: faster clients
	// wait to be accepted. Default: no bound.
	ConnectionRate float64
	// MaxIdle is Kafka's connections.max.idle.ms. A connection with a request outstanding, a parked fetch or
	// a throttle is never idle. Default 10 minutes; negative: never closed.
	MaxIdle time.Duration
	// MaxRequestBytes is Kafka's socket.request.max.bytes. Default 100 MiB.
	MaxRequestBytes int
	// MaxPlainBytes replaces it for requests other than Produce, which become many times larger in memory when
	// they are decoded and answered. Kafka has no such bound. Default 16 MiB, or MaxRequestBytes if that is less.
	MaxPlainBytes int
	// MaxUnauthenticatedBytes replaces it before authentication, as Kafka's sasl.server.max.receive.size.
	// Default 524288.
	MaxUnauthenticatedBytes int
	// InFlightRequests bounds the unanswered requests of one connection; no more are read. Default 100.
	InFlightRequests int
	// InFlightBytes bounds the bytes of one connection's unanswered requests. The only request of a
	// connection always fits. Default 16 MiB: five requests of the usual largest size, three times.
	InFlightBytes int64
	// TotalInFlightBytes bounds the bytes of all unanswered Produce requests, as Kafka's
	// queued.max.request.bytes. A request counts with what has arrived of it, rounded up to at most 16 times that.
	// One request may pass the limit when nothing but requests that wait for one another is left, so that MaxRequestBytes may
	// be above it. The first 64 KiB of a connection's only request fit in any case, so that no set of waiting requests can
	// keep out the one that would end their wait. Default 48 MiB: what a disk writes in some 30 ms.
	TotalInFlightBytes int64
	// TotalPlainBytes is the same for all other requests, which may wait for long. Their first 64 KiB wait for no room, and
	// one of more that is neither Produce nor Fetch counts with 32 times its size while it is worked on. Large answers count, too (Request.Charge). Default
	// 576 MiB: the largest of them, and 64 MiB beside it.
	TotalPlainBytes int64
	// SendBufferBytes is the size of each connection's send buffer in the kernel, as Kafka's socket.send.buffer.bytes. What is sent from a file is then
	// not far ahead of what the client takes, which over loopback took half the time; over a long way it bounds the rate
	// to this much for each round trip. Default: what the system thinks best.
	SendBufferBytes int
	// SendTimeout closes a connection whose client takes no byte of a response for so long, or up to twice as long when it has taken the beginning. Below
	// 64 KiB/s it is closed as soon as others wait for the room of a large response. Default 30 s.
	SendTimeout time.Duration
	// ReceiveTimeout is how long each MiB of the body of a request may take, plus one second per 64 KiB. While
	// others wait for TotalInFlightBytes, a body that stops arriving for a second or two is given up. Default 30 s.
	ReceiveTimeout time.Duration
	// HandshakeTimeout bounds the TLS handshake. Default 30 s.
	HandshakeTimeout time.Duration
}
