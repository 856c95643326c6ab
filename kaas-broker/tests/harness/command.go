package harness

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// Command is a program that a test runs to its end.
type Command struct {
	Program   string
	Arguments []string
	Input     string
	Env       []string
	Dir       string
	// Timeout ends the program; 0 means two minutes.
	Timeout time.Duration
}

// Result is what a program left behind.
type Result struct {
	Output string
	Errors string
	Status int
}

// Try runs the program and returns whatever comes of it. Only a program that cannot be started, or that does not end in time, fails the test.
func (c Command) Try(t testing.TB) Result {
	t.Helper()
	timeout := c.Timeout
	if timeout == 0 {
		timeout = 2 * time.Minute
	}
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	command := exec.CommandContext(ctx, c.Program, c.Arguments...)
	command.WaitDelay = 5 * time.Second
	command.Dir = c.Dir
	command.Env = append(os.Environ(), c.Env...)
	command.Stdin = strings.NewReader(c.Input)
	var output, errors bytes.Buffer
	command.Stdout = &output
	command.Stderr = &errors
	err := command.Run()
	result := Result{Output: output.String(), Errors: errors.String(), Status: -1}
	if command.ProcessState == nil {
		t.Fatalf("%s: %v", c.Program, err)
	}
	result.Status = command.ProcessState.ExitCode()
	if ctx.Err() != nil {
		t.Fatalf("%s did not end within %v\n%s\n%s", c, timeout, tail(result.Output, 4<<10), tail(result.Errors, 4<<10))
	}
	return result
}

// Run runs the program, fails the test when its status is not zero, and returns its standard output.
func (c Command) Run(t testing.TB) string {
	t.Helper()
	result := c.Try(t)
	if result.Status != 0 {
		t.Fatalf("%s: status %d\n%s\n%s", c, result.Status, tail(result.Output, 4<<10), tail(result.Errors, 4<<10))
	}
	return result.Output
}

// String is the command line.
func (c Command) String() string {
	return c.Program + " " + strings.Join(c.Arguments, " ")
}

// Find is the path of a program. Without it the test is skipped, or fails when KAAS_REQUIRE_CLIENTS is 1.
func Find(t testing.TB, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		Missing(t, "needs "+program)
	}
	return path
}
