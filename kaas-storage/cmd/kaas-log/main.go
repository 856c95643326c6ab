// kaas-log looks into the logs of kaas, and tries whether a volume can carry them.
//
//	kaas-log substrate DIR         does a deposed owner notice, on this very volume, and how long does a takeover take?
//	kaas-log dump DIR/PARTITION    shows manifest, chain, segments and batches
//	kaas-log verify DIR            checks checksums, chain and indexes, read-only
//
// Exit status: 0 all is well, 1 something is wrong with the volume or the log, 2 it could not be tried.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Exit codes.
const (
	exitOK     = 0
	exitBad    = 1
	exitFailed = 2
)

// errBad: the program did its work and what it looked at is not as it should be. The report has said why.
var errBad = errors.New("not as it should be")

// errUsage was explained already.
var errUsage = errors.New("usage")

const usage = `kaas-log looks into the logs of kaas, and tries whether a volume can carry them.

  kaas-log substrate DIR         does a deposed owner notice, on this very volume?
  kaas-log dump DIR/PARTITION    shows manifest, chain, segments and batches
  kaas-log verify DIR            checks checksums, chain and indexes, read-only

kaas-log COMMAND --help explains a command.
Exit status: 0 all is well, 1 something is wrong with the volume or the log, 2 it could not be tried.
`

// streams are what a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr})
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, s streams) int {
	if len(args) == 0 {
		fmt.Fprint(s.err, usage)
		return exitFailed
	}
	var err error
	switch args[0] {
	case "substrate":
		err = substrate(ctx, args[1:], s)
	case "dump":
		err = dump(args[1:], s)
	case "verify":
		err = verify(args[1:], s)
	case "help", "-h", "-help", "--help":
		fmt.Fprint(s.out, usage)
	default:
		fmt.Fprintf(s.err, "kaas-log: there is no command %q\n\n%s", args[0], usage)
		return exitFailed
	}
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return exitOK
	case errors.Is(err, errBad):
		return exitBad
	case !errors.Is(err, errUsage):
		fmt.Fprintf(s.err, "kaas-log %s: %v\n", args[0], err)
	}
	return exitFailed
}

// newFlags makes the flags of a command that print help on request.
func newFlags(name, help string, s streams) *flag.FlagSet {
	set := flag.NewFlagSet(name, flag.ContinueOnError)
	set.SetOutput(s.err)
	set.Usage = func() {
		fmt.Fprint(s.err, help)
		fmt.Fprintln(s.err, "\nFlags:")
		set.VisitAll(func(f *flag.Flag) {
			if f.Usage != hidden {
				value, text := flag.UnquoteUsage(f)
				fmt.Fprintf(s.err, "  --%-18s %s\n", f.Name+" "+value, text)
			}
		})
	}
	return set
}

// hidden is the usage of a flag that only this program gives to itself.
const hidden = ""

// parse takes flags before and behind the one argument.
func parse(set *flag.FlagSet, args []string, argument string) (string, error) {
	var found []string
	for {
		if err := set.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				return "", err
			}
			return "", errUsage
		}
		if set.NArg() == 0 {
			break
		}
		found = append(found, set.Arg(0))
		args = set.Args()[1:]
	}
	if len(found) != 1 {
		fmt.Fprintf(set.Output(), "kaas-log %s needs one argument, %s\n", set.Name(), argument)
		return "", errUsage
	}
	return found[0], nil
}
