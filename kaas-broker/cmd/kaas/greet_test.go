package main

import (
	"bytes"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	broker "github.com/kaas-rs/kaas/kaas-broker"
	"github.com/kaas-rs/kaas/kaas-broker/config"
)

// greeting opens a broker and returns what it says in words and what it logs.
func greeting(t *testing.T, arguments ...string) (words, logged string) {
	t.Helper()
	c, err := config.Load(config.Input{Args: append([]string{"--listeners", "PLAINTEXT://127.0.0.1:0"}, arguments...)})
	if err != nil {
		t.Fatal(err)
	}
	var out, lines bytes.Buffer
	log := zerolog.New(&lines)
	b, err := broker.Open(t.Context(), broker.Options{Config: c, Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	greet(&out, log, c, b)
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	return strings.ReplaceAll(out.String(), b.Addr("PLAINTEXT").String(), "ADDRESS"), lines.String()
}

func TestGreeting(t *testing.T) {
	words, logged := greeting(t, "--log-format", "text", "--health-addr", "127.0.0.1:0")
	mention(t, "greeting", words, []string{"in dev mode", "clients   ADDRESS (PLAINTEXT)\n", "in memory", "--data-dir", "health    http://127.0.0.1:", "kcat -b ADDRESS"})
	mention(t, "log", logged, nil)

	words, logged = greeting(t, "--health-addr", "off")
	mention(t, "greeting", words, nil)
	mention(t, "log", logged, []string{`"message":"kaas started"`, `"mode":"dev"`, `"listeners":{"PLAINTEXT":"127.0.0.1:`, `"cluster_id":"`})
}

func TestSuggestionNamesWhereClientsAreSent(t *testing.T) {
	words, _ := greeting(t, "--log-format", "text", "--health-addr", "off", "--advertised-listeners", "PLAINTEXT://kafka.example.org:19092")
	mention(t, "greeting", words, []string{"ADDRESS (PLAINTEXT), clients are sent to kafka.example.org:19092", "kcat -b kafka.example.org:19092"})
}

func TestVersion(t *testing.T) {
	built := func(version string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: version}, Settings: settings}
	}
	for want, info := range map[string]*debug.BuildInfo{
		"v0.1.0":             built("v0.1.0"),
		"devel":              built("(devel)"),
		"devel 0123456789ab": built("", debug.BuildSetting{Key: "vcs.revision", Value: "0123456789abcdef"}, debug.BuildSetting{Key: "vcs.modified", Value: "false"}),
		"devel 01 with changes": built("(devel)", debug.BuildSetting{Key: "vcs.revision", Value: "01"},
			debug.BuildSetting{Key: "vcs.modified", Value: "true"}),
	} {
		if got := versionOf(info); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestLogFormat(t *testing.T) {
	for name, test := range map[string]struct {
		format string
		want   string
	}{
		"json":              {"json", `"level":"warn"`},
		"text":              {"text", "WRN"},
		"auto, no terminal": {"auto", `"level":"warn"`},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			log, err := newLogger(config.Log{Level: "warn", Format: test.format}, &out)
			if err != nil {
				t.Fatal(err)
			}
			log.Info().Msg("left out")
			log.Warn().Msg("shown")
			mention(t, "log", out.String(), []string{test.want, "shown"})
			if strings.Contains(out.String(), "left out") {
				t.Errorf("level is not kept:\n%s", out.String())
			}
		})
	}
	if _, err := newLogger(config.Log{Level: "loud"}, &bytes.Buffer{}); err == nil {
		t.Error("an unknown level is taken")
	}
}
