package protocol

import (
	"context"
	"errors"
	"math"
	"net"
	"net/netip"
	"sync"

	"golang.org/x/time/rate"
)

// errTooManyOfIP refuses a connection of an address that has as many as it may have (Kafka's
// TooManyConnectionsException).
var errTooManyOfIP = errors.New("too many connections of one address")

// admission counts connections. Over a total an acceptor waits, over a bound per address the connection is
// closed, as in Kafka's ConnectionQuotas.
type admission struct {
	total     int
	perIP     int
	overrides map[netip.Addr]int
	rate      *rate.Limiter // nil without bound

	mutex     sync.Mutex
	freed     chan struct{} // closed and replaced whenever a connection ends
	all       int
	listeners map[*listener]int
	addresses map[netip.Addr]int
}

func newAdmission(limits Limits) *admission {
	a := &admission{
		total:     limits.MaxConnections,
		perIP:     limits.MaxConnectionsPerIP,
		overrides: make(map[netip.Addr]int),
		rate:      newRate(limits.ConnectionRate),
		freed:     make(chan struct{}),
		listeners: make(map[*listener]int),
		addresses: make(map[netip.Addr]int),
	}
	for text, limit := range limits.MaxConnectionsPerIPOverrides {
		if address, err := netip.ParseAddr(text); err == nil {
			a.overrides[address.Unmap()] = limit
		}
	}
	return a
}

func newRate(perSecond float64) *rate.Limiter {
	if perSecond <= 0 {
		return nil
	}
	return rate.NewLimiter(rate.Limit(perSecond), max(1, int(math.Ceil(perSecond))))
}

// admit counts a connection in, waiting for a free place and for the creation rate. The error is
// errTooManyOfIP or the context's; then nothing is counted.
func (a *admission) admit(ctx context.Context, l *listener, address netip.Addr) error {
	if !a.countAddress(address) {
		return errTooManyOfIP
	}
	err := a.takePlace(ctx, l)
	if err != nil {
		a.forgetAddress(address)
		return err
	}
	for _, limiter := range []*rate.Limiter{a.rate, l.rate} {
		if limiter == nil {
			continue
		}
		if err := limiter.Wait(ctx); err != nil {
			a.leave(l, address)
			return err
		}
	}
	return nil
}

// countAddress counts a connection of an address, unless it has as many as it may. Transports without an IP
// address are not counted.
func (a *admission) countAddress(address netip.Addr) bool {
	if !address.IsValid() {
		return true
	}
	a.mutex.Lock()
	defer a.mutex.Unlock()
	limit, special := a.overrides[address]
	if !special {
		limit = a.perIP
	}
	if a.addresses[address] >= limit {
		return false
	}
	a.addresses[address]++
	return true
}

func (a *admission) forgetAddress(address netip.Addr) {
	if !address.IsValid() {
		return
	}
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if a.addresses[address]--; a.addresses[address] == 0 {
		delete(a.addresses, address)
	}
}

// takePlace waits until the totals allow one more connection and counts it.
func (a *admission) takePlace(ctx context.Context, l *listener) error {
	for {
		a.mutex.Lock()
		if a.all < a.total && a.listeners[l] < l.maxConnections() {
			a.all++
			a.listeners[l]++
			a.mutex.Unlock()
			return nil
		}
		freed := a.freed
		a.mutex.Unlock()
		l.full()
		select {
		case <-freed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// leave counts a connection out.
func (a *admission) leave(l *listener, address netip.Addr) {
	a.forgetAddress(address)
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.all--
	a.listeners[l]--
	close(a.freed)
	a.freed = make(chan struct{})
}

// addressOf is the IP address of a peer, the zero Addr when the transport has none.
func addressOf(peer net.Addr) netip.Addr {
	if tcp, is := peer.(*net.TCPAddr); is {
		return tcp.AddrPort().Addr().Unmap().WithZone("")
	}
	return netip.Addr{}
}
