package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/term"

	"github.com/kaas-rs/kaas/kaas-broker/config"
)

// newLogger writes text with colors to a terminal and JSON to anything else, unless the configuration says which.
func newLogger(c config.Log, out io.Writer) (zerolog.Logger, error) {
	level, err := zerolog.ParseLevel(c.Level)
	if err != nil {
		return zerolog.Nop(), fmt.Errorf("log level: %w", err)
	}
	if asText(c, out) {
		out = zerolog.ConsoleWriter{Out: out, NoColor: !isTerminal(out), TimeFormat: time.TimeOnly}
	}
	return zerolog.New(out).Level(level).With().Timestamp().Logger(), nil
}

// asText reports whether out is read by people.
func asText(c config.Log, out io.Writer) bool {
	return c.Format == "text" || c.Format == "auto" && isTerminal(out)
}

func isTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
