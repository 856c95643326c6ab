package config

import (
	"net"
	"strconv"
	"strings"
)

// Protocol is a security protocol in Kafka's notation.
type Protocol string

// The protocols of Kafka. The SASL ones are known so that they can be refused with a clear message.
const (
	ProtocolPlaintext     Protocol = "PLAINTEXT"
	ProtocolSSL           Protocol = "SSL"
	ProtocolSASLPlaintext Protocol = "SASL_PLAINTEXT"
	ProtocolSASLSSL       Protocol = "SASL_SSL"
)

// Listener is one address that clients connect to.
type Listener struct {
	// Name tells listeners apart, in upper case when it came in Kafka's notation.
	Name string
	// Host is the address to bind; empty binds all.
	Host string
	// Port is the port to bind; 0 takes a free one.
	Port     int
	Protocol Protocol
	// AdvertisedHost and AdvertisedPort are what clients are told to connect to. Port 0 stands for the bound one.
	AdvertisedHost string
	AdvertisedPort int
	// TLS is nil on plaintext listeners.
	TLS *TLS
	// MaxConnections and MaxConnectionCreationRate are this listener's own limits; 0 means none.
	MaxConnections            int
	MaxConnectionCreationRate int
}

// Address returns host:port to bind.
func (l Listener) Address() string { return net.JoinHostPort(l.Host, strconv.Itoa(l.Port)) }

// ClientAuth says whether TLS clients present a certificate.
type ClientAuth string

// The values of ssl.client.auth.
const (
	ClientAuthNone      ClientAuth = "none"
	ClientAuthRequested ClientAuth = "requested"
	ClientAuthRequired  ClientAuth = "required"
)

// TLS names the PEM files of a listener. CertFile and KeyFile may be the same file.
type TLS struct {
	CertFile string
	KeyFile  string
	// ClientCAFile is set when ClientAuth is not none.
	ClientCAFile string
	ClientAuth   ClientAuth
}

func findListener(listeners []Listener, name string) (Listener, bool) {
	for _, listener := range listeners {
		if strings.EqualFold(listener.Name, name) {
			return listener, true
		}
	}
	return Listener{}, false
}
