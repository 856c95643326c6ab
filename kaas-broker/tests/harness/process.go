package harness

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Process is a program that runs beside a test until the test ends it.
type Process struct {
	command *exec.Cmd
	input   io.WriteCloser
	errors  *output
	left    chan struct{}
}

// Launch starts a program. Each line of its standard output goes to hear, one after the other; nil drops them. The test's end kills it.
// Of the command, Input and Timeout have no meaning here.
func Launch(t testing.TB, c Command, hear func(line string)) *Process {
	t.Helper()
	p := &Process{errors: &output{}, left: make(chan struct{})}
	// Not bound to the test's context, which ends before the cleanup functions that may still talk to it.
	p.command = exec.Command(c.Program, c.Arguments...) //nolint:noctx // see above
	p.command.Dir = c.Dir
	p.command.Env = append(os.Environ(), c.Env...)
	p.command.Stderr = p.errors
	input, err := p.command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.input = input
	lines, err := p.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.command.Start(); err != nil {
		t.Fatalf("start %s: %v", c, err)
	}
	go func() {
		defer close(p.left)
		scanner := bufio.NewScanner(lines)
		scanner.Buffer(nil, 32<<20)
		for scanner.Scan() {
			if hear != nil {
				hear(scanner.Text())
			}
		}
		_ = p.command.Wait()
	}()
	t.Cleanup(func() { p.cleanup(t, c) })
	return p
}

func (p *Process) cleanup(t testing.TB, c Command) {
	_ = p.command.Process.Kill()
	<-p.left
	if t.Failed() {
		t.Logf("%s wrote:\n%s", c.Program, tail(p.Errors(), 4<<10))
	}
}

// Say writes one line to the program's standard input.
func (p *Process) Say(t testing.TB, words ...string) {
	t.Helper()
	if _, err := io.WriteString(p.input, strings.Join(words, " ")+"\n"); err != nil {
		t.Errorf("the program does not listen: %v\n%s", err, tail(p.Errors(), 4<<10))
	}
}

// Kill ends the program as `kill -9` does.
func (p *Process) Kill() {
	_ = p.command.Process.Kill()
	<-p.left
}

// Freeze stops the program as it is, as a machine that hangs does, until Thaw.
func (p *Process) Freeze() { _ = p.command.Process.Signal(syscall.SIGSTOP) }

// Thaw lets a frozen program go on.
func (p *Process) Thaw() { _ = p.command.Process.Signal(syscall.SIGCONT) }

// Terminate asks the program to end, and waits until it has.
func (p *Process) Terminate(t testing.TB, patience time.Duration) {
	t.Helper()
	_ = p.command.Process.Signal(syscall.SIGTERM)
	p.Wait(t, patience)
}

// Finish closes the program's standard input, and waits until it has ended.
func (p *Process) Finish(t testing.TB, patience time.Duration) {
	t.Helper()
	_ = p.input.Close()
	p.Wait(t, patience)
}

// Wait returns when the program has ended by itself.
func (p *Process) Wait(t testing.TB, patience time.Duration) {
	t.Helper()
	select {
	case <-p.left:
	case <-time.After(patience):
		_ = p.command.Process.Kill()
		t.Errorf("%s still ran after %v", p.command.Path, patience)
		<-p.left
	}
}

// Left says whether the program has ended.
func (p *Process) Left() bool {
	select {
	case <-p.left:
		return true
	default:
		return false
	}
}

// Errors is what the program has written to standard error so far.
func (p *Process) Errors() string { return p.errors.String() }
