package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/rs/zerolog"
)

// untilSignal returns a context that the first SIGINT or SIGTERM ends. The second ends the process at once. stop gives the signals back.
func untilSignal(log zerolog.Logger) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	stopped, left := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(left)
		for count := 1; ; count++ {
			select {
			case <-stopped:
				return
			case received := <-signals:
				if count > 1 {
					log.Warn().Msg("ended without draining")
					os.Exit(exitForced)
				}
				log.Info().Stringer("signal", received).Msg("draining; a second signal ends at once")
				cancel()
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(stopped)
		<-left
		cancel()
	}
}
