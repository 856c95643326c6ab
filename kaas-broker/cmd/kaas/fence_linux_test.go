package main

import (
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
)

const fencedMessage = "another process uses this directory"

// Two processes on one directory, by mistake: the later one has it, the earlier one says so and ends. Nothing that either acknowledged is lost.
func TestLaterProcessTakesOver(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := start(t, "--data-dir", dir)
	produce(t, newClient(t, first.address), "orders", numbers(0, 50)...)
	second := start(t, "--data-dir", dir)
	first.exits(t, exitFenced, fencedMessage)
	produce(t, newClient(t, second.address), "orders", numbers(50, 100)...)
	// And the other way round.
	third := start(t, "--data-dir", dir)
	second.exits(t, exitFenced, fencedMessage)
	produce(t, newClient(t, third.address), "orders", numbers(100, 150)...)
	if got := contents(t, third.address, "orders"); !slices.Equal(got, numbers(0, 150)) {
		t.Errorf("read %q", got)
	}
	third.stop(t)
}

// The earlier process is frozen while the later one takes over, and thawed afterwards: it must not acknowledge anything, whatever it believes.
func TestThawedProcessAcknowledgesNothing(t *testing.T) {
	t.Parallel()
	for name, later := range map[string]func(t *testing.T, p *process){
		"while the later one serves":  func(*testing.T, *process) {},
		"after the later one stopped": func(t *testing.T, p *process) { p.stop(t) },
		"after the later one died":    func(t *testing.T, p *process) { p.kill(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			first := start(t, "--data-dir", dir)
			zombie := newClient(t, first.address)
			produce(t, zombie, "orders", numbers(0, 50)...)
			first.signal(t, syscall.SIGSTOP)
			second := start(t, "--data-dir", dir)
			produce(t, newClient(t, second.address), "orders", numbers(50, 100)...)
			later(t, second)

			acknowledged := make(chan error, 1)
			go func() {
				code, err := produceOnce(t, zombie, "orders", "too late")
				if err == nil {
					err = kerr.ErrorForCode(code)
				}
				acknowledged <- err
			}()
			first.signal(t, syscall.SIGCONT)
			if err := <-acknowledged; err == nil {
				t.Error("the thawed process has acknowledged a record")
			}
			first.exits(t, exitFenced, fencedMessage)

			third := start(t, "--data-dir", dir)
			if got := contents(t, third.address, "orders"); !slices.Equal(got, numbers(0, 100)) {
				t.Errorf("read %q", got)
			}
			if log := third.output.String(); strings.Contains(log, "corrupt") {
				t.Errorf("corrupt:\n%s", log)
			}
		})
	}
}

// A fenced process is fenced in everything: it gives out no producer ids and makes no topics either.
func TestThawedProcessGivesOutNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := start(t, "--data-dir", dir)
	zombie := newClient(t, first.address)
	given := newProducerID(t, zombie)
	first.signal(t, syscall.SIGSTOP)
	second := start(t, "--data-dir", dir)
	taken := newProducerID(t, newClient(t, second.address))
	if given/1000 == taken/1000 {
		t.Errorf("ids %d and %d are of one block", given, taken)
	}
	first.signal(t, syscall.SIGCONT)
	first.exits(t, exitFenced, fencedMessage)
	second.stop(t)
}

// The same command typed twice: the second cannot have the port, says so, and has taken nothing from the first.
func TestSecondStartOnOnePortHarmsNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	address := lowAddress(t)
	first := start(t, "--data-dir", dir, "--listeners", "PLAINTEXT://"+address)
	client := newClient(t, address)
	produce(t, client, "orders", numbers(0, 10)...)
	again := map[string][]string{
		"port":        {"--data-dir", dir, "--listeners", "PLAINTEXT://" + address, "--health-addr", "off"},
		"health port": {"--data-dir", dir, "--listeners", "PLAINTEXT://127.0.0.1:0", "--health-addr", first.health},
	}
	for name, arguments := range again {
		launch(t, arguments...).exits(t, exitFailed, "in use")
		// A new topic needs the cluster directory, and that nobody else has claimed it.
		produce(t, client, "made-after-the-"+strings.ReplaceAll(name, " ", "-"), "x")
	}
	produce(t, client, "orders", numbers(10, 20)...)
	if got := contents(t, address, "orders"); !slices.Equal(got, numbers(0, 20)) {
		t.Errorf("read %q", got)
	}
	first.stop(t)
}
