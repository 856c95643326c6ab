package protocol

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"time"

	"github.com/kaas-rs/kaas/kaas-codec"
)

// validate returns every problem of the configuration, joined.
func (c Config) validate() error {
	var problems []error
	if len(c.Listeners) == 0 {
		problems = append(problems, errors.New("no listener"))
	}
	names := make(map[string]bool, len(c.Listeners))
	for _, l := range c.Listeners {
		problems = append(problems, l.validate())
		if names[l.Name] {
			problems = append(problems, fmt.Errorf("listener %q is named twice", l.Name))
		}
		names[l.Name] = true
	}
	keys := make(map[int16]bool, len(c.APIs))
	for _, api := range c.APIs {
		problems = append(problems, api.validate())
		if keys[api.Key] {
			problems = append(problems, fmt.Errorf("API key %d has two handlers", api.Key))
		}
		keys[api.Key] = true
	}
	for address := range c.Limits.MaxConnectionsPerIPOverrides {
		if _, err := netip.ParseAddr(address); err != nil {
			problems = append(problems, fmt.Errorf("connection limit for %q: not an IP address", address))
		}
	}
	return errors.Join(problems...)
}

func (l Listener) validate() error {
	if l.Name == "" {
		return fmt.Errorf("listener at %q has no name", l.Address)
	}
	if _, _, err := net.SplitHostPort(l.Address); err != nil && l.Open == nil {
		return fmt.Errorf("listener %s: %w", l.Name, err)
	}
	if l.TLS != nil && l.TLS.ClientAuth != ClientAuthNone && l.TLS.ClientCAFile == "" {
		return fmt.Errorf("listener %s: client certificates need a file of authorities", l.Name)
	}
	return nil
}

func (a API) validate() error {
	spec, known := codec.Lookup(a.Key)
	switch {
	case !known:
		return fmt.Errorf("API key %d is not in the registry", a.Key)
	case a.Key == keyAPIVersions:
		return fmt.Errorf("%s is answered by the server itself", spec.Name)
	case a.Start == nil:
		return fmt.Errorf("%s has no handler", spec.Name)
	case a.BeforeAuth && a.Key != keySaslHandshake && a.Key != keySaslAuthenticate:
		return fmt.Errorf("%s must not be answered before authentication", spec.Name)
	}
	return nil
}

// withDefaults fills in zero fields.
func (l Limits) withDefaults() Limits {
	l.MaxConnections = cmp.Or(l.MaxConnections, math.MaxInt)
	l.MaxConnectionsPerIP = cmp.Or(l.MaxConnectionsPerIP, math.MaxInt)
	l.MaxIdle = cmp.Or(l.MaxIdle, 10*time.Minute)
	l.MaxRequestBytes = cmp.Or(l.MaxRequestBytes, 100<<20)
	l.MaxPlainBytes = min(cmp.Or(l.MaxPlainBytes, 16<<20), l.MaxRequestBytes)
	l.MaxUnauthenticatedBytes = min(cmp.Or(l.MaxUnauthenticatedBytes, 512<<10), l.MaxRequestBytes)
	l.InFlightRequests = cmp.Or(l.InFlightRequests, 100)
	l.InFlightBytes = cmp.Or(l.InFlightBytes, 16<<20)
	l.TotalInFlightBytes = cmp.Or(l.TotalInFlightBytes, 48<<20)
	l.TotalPlainBytes = cmp.Or(l.TotalPlainBytes, 576<<20)
	l.SendTimeout = cmp.Or(l.SendTimeout, 30*time.Second)
	l.ReceiveTimeout = cmp.Or(l.ReceiveTimeout, 30*time.Second)
	l.HandshakeTimeout = cmp.Or(l.HandshakeTimeout, 30*time.Second)
	return l
}
