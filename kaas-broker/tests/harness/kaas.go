package harness

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// kaas is the broker of this repository as a process.
type kaas struct {
	binary  string
	address string
	health  string // address of the health port, another one at each start
	options Options
	output  *output
	command *exec.Cmd
	left    chan struct{}
}

// Binary is bin/kaas, built anew once in a test run when the sources have changed. KAAS_BIN names another one.
func Binary(t testing.TB) string {
	t.Helper()
	if binary := os.Getenv("KAAS_BIN"); binary != "" {
		return binary
	}
	binary, err := build(Root(t))
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

// build makes bin/kaas. Only the first caller in a test run does: the go command would find out by itself that nothing has changed, but a
// source that is edited meanwhile must not make half of the tests run against something else.
var build = func() func(root string) (string, error) {
	var once sync.Once
	var binary string
	var err error
	return func(root string) (string, error) {
		once.Do(func() {
			binary = filepath.Join(root, "bin", "kaas")
			command := exec.Command("go", "build", "-o", binary, "./cmd/kaas")
			command.Dir = filepath.Join(root, "kaas-broker")
			command.Env = append(os.Environ(), "GOWORK=off")
			text, failure := command.CombinedOutput()
			if failure != nil {
				err = fmt.Errorf("build kaas: %w\n%s", failure, text)
			}
		})
		return binary, err
	}
}()

func newKaas(t testing.TB, address string, options Options) *kaas {
	t.Helper()
	return &kaas{binary: Binary(t), address: address, options: options, output: &output{}}
}

func (k *kaas) arguments() []string {
	// The profiles tell how many goroutines there are.
	arguments := []string{"--listeners", "PLAINTEXT://" + k.address, "--override", "kaas.debug.pprof=true"}
	if k.options.Mode == Single {
		arguments = append(arguments, "--data-dir", k.options.Dir)
	}
	for _, setting := range k.options.settings() {
		arguments = append(arguments, "--override", setting)
	}
	return append(arguments, k.options.Flags...)
}

func (k *kaas) start(t testing.TB) {
	t.Helper()
	// Not bound to the test's context: cleanup functions run after that has ended, and a broker must outlive them.
	k.command = exec.Command(k.binary, k.arguments()...) //nolint:noctx // see above
	k.health = freeAddress(t, firstHealthPort)
	k.command.Env = append(environment(), "KAAS_HEALTH_ADDR="+k.health)
	k.command.Env = append(k.command.Env, k.options.Env...)
	k.command.Stdout = k.output
	k.command.Stderr = k.output
	if err := k.command.Start(); err != nil {
		t.Fatalf("start kaas: %v", err)
	}
	left := make(chan struct{})
	k.left = left
	go func() {
		defer close(left)
		_ = k.command.Wait()
	}()
	waitForPort(t, k.address, k.left, k.log)
}

func (k *kaas) kill(t testing.TB) {
	t.Helper()
	k.signal(t, syscall.SIGKILL)
}

func (k *kaas) terminate(t testing.TB) {
	t.Helper()
	k.signal(t, syscall.SIGTERM)
	if code := k.command.ProcessState.ExitCode(); code != 0 {
		t.Errorf("kaas left with status %d after SIGTERM", code)
	}
}

func (k *kaas) signal(t testing.TB, signal syscall.Signal) {
	t.Helper()
	if err := k.command.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("signal kaas: %v", err)
	}
	select {
	case <-k.left:
	case <-time.After(60 * time.Second):
		_ = k.command.Process.Kill()
		t.Errorf("kaas did not leave within a minute after %v", signal)
	}
}

func (k *kaas) wait(patience time.Duration) (int, bool) {
	select {
	case <-k.left:
		return k.command.ProcessState.ExitCode(), true
	case <-time.After(patience):
		return 0, false
	}
}

func (k *kaas) log() string { return k.output.String() }

// output collects what a process writes.
type output struct {
	mutex sync.Mutex
	text  strings.Builder
}

// Write adds a piece.
func (o *output) Write(p []byte) (int, error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.text.Write(p)
}

// String is everything so far.
func (o *output) String() string {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.text.String()
}
