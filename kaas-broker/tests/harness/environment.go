package harness

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// Root is the folder of the repository.
func Root(t testing.TB) string {
	t.Helper()
	_, file, _, ok := runtime.Caller(0)
	if !ok {
		t.Fatal("no caller information")
	}
	return filepath.Join(filepath.Dir(file), "..", "..", "..")
}

// Shared is a path in the folder of shared scripts. The test is skipped when there is none.
func Shared(t testing.TB, path string) string {
	t.Helper()
	shared := os.Getenv("KAAS_SHARED")
	if shared == "" {
		shared = filepath.Join(Root(t), "..", "shared")
	}
	full := filepath.Join(shared, path)
	if _, err := os.Stat(full); err != nil {
		t.Skipf("needs %s of the shared scripts: set KAAS_SHARED to the folder that holds it", path)
	}
	return full
}

// Suite is a path in the folder where `make client-suites` installs the clients of other languages. Without it the test is skipped,
// or fails when KAAS_REQUIRE_CLIENTS is 1.
func Suite(t testing.TB, path string) string {
	t.Helper()
	full := filepath.Join(Root(t), ".cache", "clients", path)
	if _, err := os.Stat(full); err != nil {
		Missing(t, "run `make client-suites` first: "+err.Error())
	}
	return full
}

// Missing ends a test that lacks a program.
func Missing(t testing.TB, message string) {
	t.Helper()
	if os.Getenv("KAAS_REQUIRE_CLIENTS") == "1" {
		t.Fatal(message)
	}
	t.Skip(message)
}

// environment is the test's own environment without what belongs to the tests, which kaas would take for settings of its own.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(entry string) bool { return strings.HasPrefix(entry, "KAAS_") })
}
