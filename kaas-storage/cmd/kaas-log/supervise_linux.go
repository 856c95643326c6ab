package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// startHolder starts this program again as the holder. stop waits for its end.
func startHolder(ctx context.Context, o options, s streams) (stop func(), err error) {
	cmd, err := again(ctx, o, "holder", s)
	if err != nil {
		return nil, err
	}
	in, err := cmd.StdinPipe() // its end tells the holder that this process has gone
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return func() {
		in.Close()
		_ = cmd.Wait() // what was wrong with it, it has said, or the report says
	}, nil
}

func again(ctx context.Context, o options, role string, s streams) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	cmd := exec.CommandContext(ctx, self, "substrate", o.dir, "--role", role, "--peer", o.peer, "--child",
		"--freeze", o.freeze.String(), "--wait", o.wait.String())
	cmd.Stderr = s.err
	return cmd, nil
}

// supervise runs the holder's process and stops and continues it when it asks for that: a stopped process cannot wake itself.
func supervise(ctx context.Context, o options, s streams) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if o.child {
		go func() { // ends with the process
			_, _ = io.Copy(io.Discard, s.in)
			cancel()
		}()
	} else {
		fmt.Fprintf(s.err, "waiting for: kaas-log substrate %s --role taker --peer %s\n", o.dir, o.peer)
	}
	cmd, err := again(ctx, o, "worker", s)
	if err != nil {
		return err
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if text, asked := strings.CutPrefix(lines.Text(), "freeze "); asked {
			if err := freeze(ctx, cmd.Process, text); err != nil {
				return errors.Join(err, cmd.Process.Kill(), cmd.Wait())
			}
		}
	}
	if err := cmd.Wait(); err != nil {
		return errUsage // it has said what was wrong
	}
	return nil
}

func freeze(ctx context.Context, p *os.Process, text string) error {
	duration, err := time.ParseDuration(text)
	if err != nil {
		return err
	}
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		return fmt.Errorf("stop the holder: %w", err)
	}
	timer := time.NewTimer(duration)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	if err := p.Signal(syscall.SIGCONT); err != nil && ctx.Err() == nil {
		return fmt.Errorf("continue the holder: %w", err)
	}
	return nil
}
