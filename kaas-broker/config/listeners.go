package config

import (
	"fmt"
	"net"
	"slices"
	"strings"
)

// listeners builds the listeners from their four keys: where to bind, which protocol, what clients are told, and the
// limits of each.
func (b *builder) listeners() []Listener {
	text := b.values.value("listeners").Text()
	var listeners []Listener
	if isJSON(text) {
		listeners = b.parseJSONListeners(text)
	} else {
		listeners = b.parseListeners(text)
	}
	if len(listeners) == 0 && len(b.problems) == 0 {
		b.rejectListenerf("none is left to accept clients on")
	}
	b.checkUnique(listeners)
	b.advertise(listeners)
	for i := range listeners {
		b.limit(&listeners[i])
		if listeners[i].Protocol == ProtocolSSL {
			listeners[i].TLS = b.tls(listeners[i].Name)
		}
	}
	return listeners
}

func (b *builder) parseListeners(text string) []Listener {
	endpoints, err := parseEndpoints(text)
	if err != nil {
		b.reject(b.origin("listeners"), err)
	}
	protocols := b.protocols()
	var listeners []Listener
	for _, end := range endpoints {
		if b.forController(end.name) {
			b.warn(b.origin("listeners"), "listeners", "names "+end.name+" for controllers; it is left out, as kaas has no controller quorum")
			continue
		}
		protocol, ok := protocols[end.name]
		if !ok {
			b.rejectListenerf("%s has no protocol in listener.security.protocol.map", end)
			continue
		}
		if protocol == ProtocolSASLPlaintext || protocol == ProtocolSASLSSL {
			b.reject(b.origin("listeners"), fmt.Errorf("%w: protocol %s of listener %s", ErrNotServed, protocol, end.name))
			continue
		}
		listeners = append(listeners, Listener{Name: end.name, Host: end.host, Port: end.port, Protocol: protocol})
	}
	return listeners
}

// forController reports whether controller.listener.names has the name: such listeners are not for clients.
func (b *builder) forController(name string) bool {
	value, _ := b.values.Lookup("controller.listener.names")
	return slices.ContainsFunc(strings.Split(value.Text(), ","), func(other string) bool {
		return strings.EqualFold(strings.TrimSpace(other), name)
	})
}

// protocols reads listener.security.protocol.map. A listener that is named like a protocol needs no entry.
func (b *builder) protocols() map[string]Protocol {
	const key = "listener.security.protocol.map"
	known := []Protocol{ProtocolPlaintext, ProtocolSSL, ProtocolSASLPlaintext, ProtocolSASLSSL}
	protocols := map[string]Protocol{}
	for _, protocol := range known {
		protocols[string(protocol)] = protocol
	}
	text := b.values.value(key).Text()
	if text == "" {
		return protocols
	}
	for _, entry := range strings.Split(text, ",") {
		name, protocol, ok := strings.Cut(strings.TrimSpace(entry), ":")
		upper := Protocol(strings.ToUpper(strings.TrimSpace(protocol)))
		if !ok || !slices.Contains(known, upper) {
			b.rejectValue(key, entry, "Entries must be NAME:PROTOCOL with one of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL")
			continue
		}
		protocols[strings.ToUpper(strings.TrimSpace(name))] = upper
	}
	return protocols
}

// checkUnique refuses two listeners of one name, or on one port of one address.
func (b *builder) checkUnique(listeners []Listener) {
	for i, one := range listeners {
		for _, other := range listeners[:i] {
			switch {
			case strings.EqualFold(one.Name, other.Name):
				b.rejectListenerf("two are named %s", one.Name)
			case one.Port == 0 || one.Port != other.Port:
			case one.Host == other.Host || wildcard(one.Host) || wildcard(other.Host):
				b.rejectListenerf("%s and %s both bind port %d", other.Name, one.Name, one.Port)
			}
		}
	}
}

// advertise fills in what clients are told.
func (b *builder) advertise(listeners []Listener) {
	const key = "advertised.listeners"
	for i := range listeners {
		listeners[i].AdvertisedHost, listeners[i].AdvertisedPort = listeners[i].Host, listeners[i].Port
	}
	told := map[string]bool{}
	if value, ok := b.values.Lookup(key); ok && value.Text() != "" {
		ends, err := parseEndpoints(value.Text())
		if err != nil {
			b.reject(b.origin(key), err)
		}
		for _, end := range ends {
			b.advertiseOne(listeners, end, told)
		}
	}
	for i := range listeners {
		if l := &listeners[i]; !told[strings.ToUpper(l.Name)] && wildcard(l.Host) {
			l.AdvertisedHost = b.hostname()
			b.warn(b.origin("listeners"), "listeners", fmt.Sprintf(
				"binds all addresses for %s and advertised.listeners does not name it: clients are told to connect to %s", l.Name, l.AdvertisedHost))
		}
	}
}

func (b *builder) advertiseOne(listeners []Listener, end endpoint, told map[string]bool) {
	const key = "advertised.listeners"
	at := slices.IndexFunc(listeners, func(l Listener) bool { return strings.EqualFold(l.Name, end.name) })
	switch {
	case b.forController(end.name):
	case at < 0:
		b.reject(b.origin(key), fmt.Errorf("%w: %s is not among the listeners", ErrListener, end))
	case told[end.name]:
		b.reject(b.origin(key), fmt.Errorf("%w: two advertise %s", ErrListener, end.name))
	case wildcard(end.host):
		b.reject(b.origin(key), fmt.Errorf("%w: clients cannot connect to %s; name a host", ErrListener, end))
	default:
		told[end.name] = true
		listeners[at].AdvertisedHost, listeners[at].AdvertisedPort = end.host, end.port
	}
}

func (b *builder) hostname() string {
	name, err := b.in.Hostname()
	if err != nil || name == "" {
		return "localhost"
	}
	return name
}

func (b *builder) limit(l *Listener) {
	l.MaxConnections = b.listenerInt(l.Name, "max.connections")
	l.MaxConnectionCreationRate = b.listenerInt(l.Name, "max.connection.creation.rate")
}

// listenerInt returns a number that was set for this listener alone, else 0.
func (b *builder) listenerInt(listener, key string) int {
	value, ok := b.listenerValue(listener, key)
	if !ok {
		return 0
	}
	return int(value.Int64())
}

// validHost reports whether text can stand before a port.
func validHost(text string) bool {
	return net.ParseIP(text) != nil || !strings.ContainsAny(text, " :/[]")
}

func (b *builder) rejectListenerf(format string, args ...any) {
	b.reject(b.origin("listeners"), fmt.Errorf("%w: "+format, append([]any{ErrListener}, args...)...))
}
