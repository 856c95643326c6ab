// Command kaas is the broker: `kaas` keeps everything in memory, `kaas --data-dir DIR` on disk. See `kaas --help`.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

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
	if tuneCollector(environ) {
		defer beside(paceCollector)()
		defer beside(newTidier().run)()
	}
	tuneScheduler(environ)
	return serve(c, log, stdout)
}

// serve opens and runs the broker until a signal. The first one drains, the second ends the process at once.
func serve(c *config.Config, log zerolog.Logger, stdout io.Writer) int {
	ctx, stop := untilSignal(log)
	defer stop()
	b, err := open(ctx, c, log)
	if err != nil {
		return ended(ctx, log, err, "kaas cannot start")
	}
	greet(stdout, log, c, b)
	if err := b.Run(ctx); err != nil {
		return ended(ctx, log, err, "kaas ended")
	}
	log.Info().Msg("kaas ended in good order")
	return exitOK
}

// open opens the broker if this process may open as many files as it will need.
func open(ctx context.Context, c *config.Config, log zerolog.Logger) (*broker.Broker, error) {
	if err := boundConnections(c); err != nil {
		return nil, err
	}
	files, err := allowedFiles()
	if err != nil {
		return nil, err
	}
	b, err := broker.Open(ctx, broker.Options{Config: c, Version: version(), Logger: log, OpenFiles: files})
	if err != nil {
		return nil, err
	}
	if err := checkFileLimit(b.FileNeeds(), log); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// ended logs why the broker is not there, and chooses the exit code.
func ended(ctx context.Context, log zerolog.Logger, err error, message string) int {
	switch {
	case errors.Is(err, broker.ErrFenced):
		log.Error().Err(err).Msg("kaas ends: another process uses this directory; start only one")
		return exitFenced
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		log.Info().Msg("kaas ended before it had started")
		return exitOK
	default:
		log.Error().Err(err).Msg(message)
		return exitFailed
	}
}

// version is what the binary was built from: a version of the module, or where there is none the commit.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	return versionOf(info)
}

func versionOf(info *debug.BuildInfo) string {
	if info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	revision, modified := "", ""
	for _, setting := range info.Settings {
		switch {
		case setting.Key == "vcs.revision":
			revision = " " + setting.Value[:min(len(setting.Value), 12)]
		case setting.Key == "vcs.modified" && setting.Value == "true":
			modified = " with changes"
		}
	}
	return "devel" + revision + modified
}
