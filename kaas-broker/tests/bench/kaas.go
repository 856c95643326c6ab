package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// kaasLauncher runs the broker of this repository in single mode with its defaults.
type kaasLauncher struct {
	binary string
	// profiles are served at healthAddress.
	profiles bool
	// files is how many files the broker may open; 0 leaves that as it is.
	files int
}

func (k kaasLauncher) launch(dir, address string) (process, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, err
	}
	health := []string{"--health-addr", "off"}
	if k.profiles {
		health = []string{"--health-addr", healthAddress(address), "--override", "kaas.debug.pprof=true"}
	}
	arguments := append([]string{"--data-dir", filepath.Join(dir, "data"), "--listeners", "PLAINTEXT://" + address}, health...)
	program := k.binary
	if k.files > 0 {
		arguments = append([]string{"-c", fmt.Sprintf(`ulimit -n %d && exec "$0" "$@"`, k.files), k.binary}, arguments...)
		program = "sh"
	}
	command := exec.Command(program, arguments...) //nolint:noctx // outlives the function; server ends it
	command.Env = slices.DeleteFunc(os.Environ(), func(entry string) bool { return strings.HasPrefix(entry, "KAAS_") })
	logged := filepath.Join(dir, "server.log")
	log, err := os.OpenFile(logged, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	command.Stdout, command.Stderr = log, log
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("start kaas: %w", err)
	}
	return waitFor(command, logged), nil
}

// healthAddress is where a kaas that is profiled serves its health: the same port in the next thousand.
func healthAddress(address string) string {
	host, port, _ := net.SplitHostPort(address)
	number, _ := strconv.Atoi(port)
	return net.JoinHostPort(host, strconv.Itoa(number+1000))
}

// kaasProcess is a child of this process.
type kaasProcess struct {
	command *exec.Cmd
	logged  string
	ended   chan struct{}
}

func waitFor(command *exec.Cmd, logged string) *kaasProcess {
	p := &kaasProcess{command, logged, make(chan struct{})}
	go func() {
		defer close(p.ended)
		_ = command.Wait()
	}()
	return p
}

func (p *kaasProcess) pid() (int, error) { return p.command.Process.Pid, nil }

func (p *kaasProcess) failed() error {
	select {
	case <-p.ended:
		return errors.New("kaas ended: " + tail(p.logged))
	default:
		return nil
	}
}

func (p *kaasProcess) release() { <-p.ended }

// tail is the end of a log file, for an error message.
func tail(path string) string {
	const most = 2000
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return string(text[max(len(text)-most, 0):])
}
