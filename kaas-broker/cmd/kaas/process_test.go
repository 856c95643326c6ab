//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience is the time in which everything here happens many times over, on a busy machine.
const patience = 60 * time.Second

// process is kaas as a process of its own.
type process struct {
	command *exec.Cmd
	output  *output
	ended   chan struct{}
	// Address is where clients connect, health that of /healthz; both are set by serving.
	address, health string
}

// launch starts kaas without waiting for anything. It is killed when the test ends.
func launch(t *testing.T, arguments ...string) *process {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return launchCommand(t, exec.Command(binary, arguments...))
}

func launchCommand(t *testing.T, command *exec.Cmd) *process {
	t.Helper()
	p := &process{command: command, output: newOutput(), ended: make(chan struct{})}
	// Variables of the tests would be settings of kaas.
	others := slices.DeleteFunc(p.command.Environ(), func(entry string) bool { return strings.HasPrefix(entry, "KAAS_") })
	p.command.Env = append(others, asKaas+"=1")
	p.command.Stdout, p.command.Stderr = p.output, p.output
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		_ = p.command.Wait()
		p.output.end()
	}()
	t.Cleanup(func() {
		p.signal(t, syscall.SIGKILL)
		<-p.ended
		if t.Failed() {
			t.Logf("output of kaas %s:\n%s", strings.Join(p.command.Args[1:], " "), p.output)
		}
	})
	return p
}

// start starts kaas on free ports, unless the arguments say otherwise, and waits until it has taken its partitions over.
func start(t *testing.T, arguments ...string) *process {
	t.Helper()
	p := serving(t, launch(t, append(freePorts(arguments), arguments...)...))
	eventually(t, "ready", func() bool { status, _ := p.get(t, "/readyz"); return status == http.StatusOK })
	return p
}

func freePorts(arguments []string) []string {
	var free []string
	if !strings.Contains(strings.Join(arguments, " "), "--listeners") {
		free = append(free, "--listeners", "PLAINTEXT://127.0.0.1:0")
	}
	return append(free, "--health-addr", "127.0.0.1:0")
}

// serving waits for the line in which kaas tells that it has started.
func serving(t *testing.T, p *process) *process {
	t.Helper()
	line := p.await(t, "kaas started")
	var started struct {
		Listeners map[string]string `json:"listeners"`
		Health    string            `json:"health"`
	}
	if err := json.Unmarshal([]byte(line), &started); err != nil {
		t.Fatalf("%v in %s", err, line)
	}
	p.address, p.health = started.Listeners["PLAINTEXT"], started.Health
	return p
}

// await returns the first line of the output that contains a text.
func (p *process) await(t *testing.T, text string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	line, err := p.output.find(ctx, text)
	if err != nil {
		t.Fatalf("%q is not in the output: %v", text, err)
	}
	return line
}

// exits waits for the end and checks the exit code, and that the output mentions all parts.
func (p *process) exits(t *testing.T, code int, parts ...string) {
	t.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		t.Fatal("kaas does not end")
	}
	if got := p.command.ProcessState.ExitCode(); got != code {
		t.Errorf("exit code %d, want %d", got, code)
	}
	mention(t, "output", p.output.String(), append([]string{""}, parts...))
}

func (p *process) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := p.command.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Error(err)
	}
}

// kill ends the process as `kill -9` does.
func (p *process) kill(t *testing.T) {
	t.Helper()
	p.signal(t, syscall.SIGKILL)
	<-p.ended
}

// stop ends it in good order.
func (p *process) stop(t *testing.T) {
	t.Helper()
	p.signal(t, syscall.SIGTERM)
	p.exits(t, exitOK, "kaas ended in good order")
}

// get asks the health server.
func (p *process) get(t *testing.T, path string) (status int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+p.health+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// eventually tries until it is so.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !so(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %v", what, patience)
		}
	}
}

// lowAddress is a free address below the ports that outgoing connections get: nobody else is given it while kaas is down.
func lowAddress(t *testing.T) string {
	t.Helper()
	for range 100 {
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(20_000+rand.IntN(12_000)))
		if probe, err := net.Listen("tcp", address); err == nil {
			_ = probe.Close()
			return address
		}
	}
	t.Fatal("no free port")
	return ""
}

// output collects lines and tells who waits for one.
type output struct {
	mutex  sync.Mutex
	text   bytes.Buffer
	change chan struct{} // closed and replaced when text has grown; nil after the end
}

func newOutput() *output { return &output{change: make(chan struct{})} }

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	close(o.change)
	o.change = make(chan struct{})
	return o.text.Write(p)
}

func (o *output) end() {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	close(o.change)
	o.change = nil
}

// String is everything so far.
func (o *output) String() string {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.text.String()
}

var errEnded = errors.New("the process has ended")

// find waits for a whole line that contains a text.
func (o *output) find(ctx context.Context, text string) (string, error) {
	for {
		o.mutex.Lock()
		whole, change := o.text.String(), o.change
		o.mutex.Unlock()
		for line := range strings.Lines(whole) {
			if strings.Contains(line, text) && strings.HasSuffix(line, "\n") {
				return line, nil
			}
		}
		if change == nil {
			return "", fmt.Errorf("%w:\n%s", errEnded, whole)
		}
		select {
		case <-change:
		case <-ctx.Done():
			return "", fmt.Errorf("%w:\n%s", ctx.Err(), whole)
		}
	}
}
