// Command kaas is the broker: `kaas` keeps everything in memory, `kaas --data-dir DIR` on disk. See `kaas --help`.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/rs/zerolog"

	broker "github.com/kaas-rs/kaas/kaas-broker"
	"github.com/kaas-rs/kaas/kaas-broker/config"
)

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1 // the broker could not start or go on
	exitUsage  = 2 // the configuration is wrong
	exitFenced = 3 // another process took the directory over
	exitForced = 4 // a second signal ended the drain
)

func main() {
	os.Exit(run(os.Args[1:], os.Environ(), os.Stdout, os.Stderr))
}

func run(args, environ []string, stdout, stderr io.Writer) int {
	c, err := config.Load(config.Input{Args: args, Environ: environ})
	switch {
	case errors.Is(err, config.ErrHelp):
		fmt.Fprint(stdout, config.Usage())
		return exitOK
	case errors.Is(err, config.ErrVersion):
		fmt.Fprintln(stdout, "kaas", version())
		return exitOK
	case err != nil:
		fmt.Fprintln(stderr, "kaas:", err)
		return exitUsage
	}
	log, err := newLogger(c.Log, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "kaas:", err)
		return exitUsage
	}
	for _, w := range c.Warnings {
		log.Warn().Msg(w.String())
	}
	return serve(c, log, stdout)
}

// serve opens and runs the broker until a signal. The first one drains, the second ends the process at once.
func serve(c *config.Config, log zerolog.Logger, stdout io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := checkFileLimit(c, log); err != nil {
		log.Error().Err(err).Msg("kaas cannot start")
		return exitFailed
	}
	b, err := broker.Open(ctx, broker.Options{Config: c, Version: version(), Logger: log})
	if err != nil {
		log.Error().Err(err).Msg("kaas cannot start")
		return exitFailed
	}
	greet(stdout, c, b)
	forceOnSecondSignal(ctx, log)
	err = b.Run(ctx)
	switch {
	case errors.Is(err, broker.ErrFenced):
		log.Error().Err(err).Msg("kaas ends: another process uses this directory; start only one")
		return exitFenced
	case err != nil:
		log.Error().Err(err).Msg("kaas ended")
		return exitFailed
	}
	log.Info().Msg("kaas ended in good order")
	return exitOK
}

func forceOnSecondSignal(ctx context.Context, log zerolog.Logger) {
	second := make(chan os.Signal, 2)
	signal.Notify(second, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() {
		log.Info().Msg("draining; a second signal ends at once")
		<-second // the first signal, which ended ctx
		<-second
		log.Warn().Msg("ended without draining")
		os.Exit(exitForced)
	})
}

// version is the module version that the binary was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "dev"
	}
	return info.Main.Version
}
