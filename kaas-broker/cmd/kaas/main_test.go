package main

import (
	"os"
	"strings"
	"testing"
)

// asKaas makes the test's own binary run as kaas, so that tests have real processes without building anything.
const asKaas = "RUN_TEST_BINARY_AS_KAAS"

func TestMain(m *testing.M) {
	if os.Getenv(asKaas) != "" {
		main()
	}
	os.Exit(m.Run())
}

func TestRunWithoutBroker(t *testing.T) {
	for name, test := range map[string]struct {
		arguments, environ []string
		code               int
		stdout, stderr     []string
	}{
		"help":    {[]string{"--help"}, nil, exitOK, []string{"--data-dir", "--listeners", "--override"}, nil},
		"version": {[]string{"--version"}, nil, exitOK, []string{"kaas "}, nil},
		"every problem at once": {
			[]string{"--listeners", "nonsense", "--override", "log.retention.hurs=1", "--override", "num.partitions=none", "--fly"},
			[]string{"KAAS_LOG_LEVEL=loud"},
			exitUsage, nil,
			[]string{"nonsense", "log.retention.hurs", "log.retention.hours", "num.partitions", "--fly", "KAAS_LOG_LEVEL"},
		},
		"no such file": {[]string{"--config", "/no/such/server.properties"}, nil, exitUsage, nil, []string{"/no/such/server.properties"}},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr strings.Builder
			if code := run(test.arguments, test.environ, &stdout, &stderr); code != test.code {
				t.Errorf("exit code %d, want %d", code, test.code)
			}
			mention(t, "standard output", stdout.String(), test.stdout)
			mention(t, "standard error", stderr.String(), test.stderr)
		})
	}
}

// mention checks that a text has all parts, and is empty when there are none.
func mention(t *testing.T, what, text string, parts []string) {
	t.Helper()
	if len(parts) == 0 && text != "" {
		t.Errorf("%s is not empty:\n%s", what, text)
	}
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s does not mention %q:\n%s", what, part, text)
		}
	}
}
