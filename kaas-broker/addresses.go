package broker

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/kaas-rs/kaas/kaas-broker/config"
)

// addresses are the listeners' sockets, bound before the directories are claimed: the same command typed twice must fail on its port, and not first end
// the broker that runs. Clients that connect meanwhile wait in the kernel's backlog.
type addresses map[string]net.Listener

// bind binds all listeners, or none. The error names the listener and the address.
func bind(ctx context.Context, listeners []config.Listener, listen func(context.Context, string) (net.Listener, error)) (addresses, error) {
	if listen == nil {
		listen = func(ctx context.Context, address string) (net.Listener, error) {
			var options net.ListenConfig
			return options.Listen(ctx, "tcp", address)
		}
	}
	bound := addresses{}
	for _, l := range listeners {
		socket, err := listen(ctx, l.Address())
		if err != nil {
			return nil, errors.Join(fmt.Errorf("listener %s: %w", l.Name, err), bound.close())
		}
		bound[l.Name] = socket
	}
	return bound, nil
}

// open hands a socket over to the server, which closes it from then on.
func (a addresses) open(name string) func(context.Context, string) (net.Listener, error) {
	return func(context.Context, string) (net.Listener, error) {
		socket := a[name]
		if socket == nil {
			return nil, net.ErrClosed
		}
		delete(a, name)
		return socket, nil
	}
}

// close closes what was not handed over.
func (a addresses) close() error {
	var errs []error
	for name, socket := range a {
		delete(a, name)
		errs = append(errs, socket.Close())
	}
	return errors.Join(errs...)
}
