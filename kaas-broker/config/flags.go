package config

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/kaas-rs/kaas/kaas-broker/config/configdef"
)

// ErrArgument means that a command line argument cannot be understood.
var ErrArgument = errors.New("bad argument")

// flagKeys are the flags that stand for one key.
var flagKeys = []struct{ flag, key, usage string }{
	{"data-dir", keyDataDir, "keep topics in `DIR`; without it everything stays in memory"},
	{"cluster-dir", keyClusterDir, "keep what belongs to no topic in `DIR` (default: __cluster in the data directory)"},
	{"listeners", "listeners", "accept clients on `LIST`, as NAME://HOST:PORT,..."},
	{"advertised-listeners", "advertised.listeners", "tell clients to connect to `LIST`, where it differs from --listeners"},
	{"health-addr", keyHealthAddr, "serve /healthz and /readyz on `ADDRESS`, as HOST:PORT or PORT; off for neither"},
	{"log-level", keyLogLevel, "least important `LEVEL` to log: trace, debug, info, warn or error"},
	{"log-format", keyLogFormat, "`FORMAT` of log lines: text, json, or auto for text on a terminal"},
}

// arguments is the command line, understood.
type arguments struct {
	settings []setting
	file     string
	problems []Problem
}

// parseArguments reads the command line. The error is ErrHelp or ErrVersion; what is wrong stands in the result.
func parseArguments(args []string) (arguments, error) {
	var out arguments
	flags := newFlagSet()
	args = out.dropUnknown(flags, args)
	if err := flags.Parse(args); err != nil {
		out.rejectf("", "%s", err)
		return out, nil
	}
	if on, _ := flags.GetBool("help"); on {
		return out, ErrHelp
	}
	if on, _ := flags.GetBool("version"); on {
		return out, ErrVersion
	}
	for _, extra := range flags.Args() {
		out.rejectf("", "unexpected argument %q", extra)
	}
	out.file, _ = flags.GetString("config")
	overrides, _ := flags.GetStringArray("override")
	out.addOverrides(overrides)
	out.addFlags(flags)
	return out, nil
}

func newFlagSet() *pflag.FlagSet {
	flags := pflag.NewFlagSet("kaas", pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	flags.SortFlags = false
	for _, f := range flagKeys {
		flags.String(f.flag, "", f.usage)
	}
	flags.String("config", "", "read Kafka properties from `FILE`, such as a server.properties")
	flags.StringArray("override", nil, "set any property by `KEY=VALUE`, stronger than the file and variables; may be repeated")
	flags.Bool("version", false, "print the version")
	flags.BoolP("help", "h", false, "print this text")
	return flags
}

// dropUnknown removes the flags that do not exist, with their values, so that the rest can be read and every one of
// them is reported.
func (a *arguments) dropUnknown(flags *pflag.FlagSet, args []string) []string {
	var kept []string
	for i := 0; i < len(args); i++ {
		argument := args[i]
		name, long := strings.CutPrefix(argument, "--")
		name, _, hasValue := strings.Cut(name, "=")
		switch {
		case argument == "--":
			return append(kept, args[i:]...)
		case !long || name == "" || flags.Lookup(name) != nil:
			kept = append(kept, argument)
			if long && !hasValue && takesValue(flags, name) && i+1 < len(args) {
				i++
				kept = append(kept, args[i])
			}
			continue
		}
		a.rejectf("--"+name, "unknown flag%s", suggestFlag(flags, name))
		if !hasValue && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
			i++
		}
	}
	return kept
}

func takesValue(flags *pflag.FlagSet, name string) bool {
	flag := flags.Lookup(name)
	return flag != nil && flag.NoOptDefVal == ""
}

func suggestFlag(flags *pflag.FlagSet, name string) string {
	var names []string
	flags.VisitAll(func(flag *pflag.Flag) { names = append(names, flag.Name) })
	if nearest := configdef.Nearest(name, names); nearest != "" {
		return " (did you mean --" + nearest + "?)"
	}
	return "; a property is set with --override " + strings.ReplaceAll(name, "-", ".") + "=VALUE"
}

func (a *arguments) addOverrides(overrides []string) {
	for _, override := range overrides {
		key, value, ok := strings.Cut(override, "=")
		if key = strings.TrimSpace(key); !ok || key == "" {
			a.rejectf("--override", "want KEY=VALUE, got %q", override)
			continue
		}
		a.settings = append(a.settings, setting{key, value, Origin{Layer: LayerFlag, Name: "--override"}})
	}
}

// addFlags adds the flags of keys, which must not contradict an override: on a command line neither comes first.
func (a *arguments) addFlags(flags *pflag.FlagSet) {
	for _, f := range flagKeys {
		if !flags.Changed(f.flag) {
			continue
		}
		value, _ := flags.GetString(f.flag)
		given := setting{f.key, value, Origin{Layer: LayerFlag, Name: "--" + f.flag}}
		clash := slices.ContainsFunc(a.settings, func(s setting) bool { return s.key == f.key && s.raw != value })
		if clash {
			a.problems = append(a.problems, Problem{given.origin, fmt.Errorf("%w: --override sets %s too", ErrConflict, f.key)})
		}
		a.settings = append(a.settings, given)
	}
}

func (a *arguments) rejectf(name, format string, args ...any) {
	origin := Origin{Layer: LayerFlag, Name: name}
	a.problems = append(a.problems, Problem{origin, fmt.Errorf("%w: "+format, append([]any{ErrArgument}, args...)...)})
}
