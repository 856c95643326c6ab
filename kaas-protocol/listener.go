package protocol

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"time"

	"golang.org/x/time/rate"
)

const (
	acceptPauseFirst = 5 * time.Millisecond
	acceptPauseMax   = time.Second
)

// listener is one Listener while the server lives.
type listener struct {
	server       *Server
	config       Listener
	certificates *certificates // nil on plaintext
	rate         *rate.Limiter
	bound        net.Listener

	acceptTrouble sometimes
	fullTrouble   sometimes
	ipTrouble     sometimes
}

// bind opens the listener.
func (l *listener) bind(ctx context.Context) error {
	open := l.config.Open
	if open == nil {
		open = func(ctx context.Context, address string) (net.Listener, error) {
			var options net.ListenConfig
			return options.Listen(ctx, "tcp", address)
		}
	}
	bound, err := open(ctx, l.config.Address)
	if err != nil {
		// The operation's own error repeats the address.
		if operation := (*net.OpError)(nil); errors.As(err, &operation) {
			err = operation.Err
		}
		return fmt.Errorf("listener %s: listen on %s: %w", l.config.Name, l.config.Address, err)
	}
	l.bound = bound
	return nil
}

// accept takes connections until the listener is closed; they live as long as the serving context. Running out of descriptors or memory is waited out.
func (l *listener) accept(ctx, serving context.Context) {
	pause := time.Duration(0)
	for {
		transport, err := l.bound.Accept()
		if err == nil {
			pause = 0
			l.take(ctx, serving, transport)
			continue
		}
		if ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
			return
		}
		pause = min(max(2*pause, acceptPauseFirst), acceptPauseMax)
		if skipped, ok := l.acceptTrouble.allow(time.Now()); ok {
			l.server.config.Logger.Error().Err(err).Str("listener", l.config.Name).Dur("retry", pause).
				Int("left_out", skipped).Msg("cannot accept connections")
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}

// take admits one accepted connection and hands it to its goroutine.
func (l *listener) take(ctx, serving context.Context, transport net.Conn) {
	address := addressOf(transport.RemoteAddr())
	err := l.server.admission.admit(ctx, l, address)
	if err == nil {
		if l.server.adopt(serving, l, transport, address) {
			return
		}
		l.server.admission.leave(l, address)
	}
	transport.Close()
	if !errors.Is(err, errTooManyOfIP) {
		return // the server stops
	}
	l.server.meters.turnedAway(ctx, l.config.Name, "address")
	if skipped, ok := l.ipTrouble.allow(time.Now()); ok {
		l.server.config.Logger.Warn().Str("listener", l.config.Name).Str("address", address.String()).
			Int("left_out", skipped).Msg("refused a connection: its address has as many as it may")
	}
}

// full notes that accepting waits for a connection to end.
func (l *listener) full() {
	if skipped, ok := l.fullTrouble.allow(time.Now()); ok {
		l.server.config.Logger.Warn().Str("listener", l.config.Name).Int("left_out", skipped).
			Msg("as many connections as allowed: new ones wait")
	}
}

func (l *listener) maxConnections() int {
	if l.config.MaxConnections > 0 {
		return l.config.MaxConnections
	}
	return math.MaxInt
}
