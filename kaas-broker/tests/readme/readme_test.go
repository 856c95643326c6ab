package readme

import (
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

const address = "127.0.0.1:9092"

func TestStepsOfATranscript(t *testing.T) {
	list := steps("text\n```console\n$ one\n$ two\na…c\n…\nend\n```\n```sh\n$ not this\n```\n")
	if len(list) != 2 || list[0].command != "one" || len(list[1].want) != 3 {
		t.Fatalf("read as %+v", list)
	}
	for output, want := range map[string]bool{
		"abc\nend\n": true, "ac\nx\ny\nend\n": true, "ab\nend\n": false, "abc\nend\nmore\n": false, "": false,
	} {
		if list[1].matches(output) != want {
			t.Errorf("%q matches: %v", output, !want)
		}
	}
}

// A newcomer clones the repository and types what README.md says, in its order, and sees what it says.
func TestReadme(t *testing.T) {
	harness.NeedKaas(t)
	harness.Find(t, "kcat")
	if listening() {
		t.Fatalf("README.md is about %s, but somebody listens there already", address)
	}
	path := harness.ShellTools(t, "3.7.2") + ":" + os.Getenv("PATH")
	clone := filepath.Join(t.TempDir(), "kaas")
	harness.Command{Program: "git", Arguments: []string{"clone", "-q", "file://" + harness.Root(t), clone}}.Run(t)
	text, err := os.ReadFile(filepath.Join(clone, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	person := &newcomer{dir: clone, env: append(plainEnvironment(), "PATH="+path, "KAFKA_JIT=1", "KAFKA_HEAP=256m")}
	t.Cleanup(func() { person.stopBroker(t) })
	for _, s := range steps(string(text)) {
		person.follow(t, s)
	}
}

// plainEnvironment is the test's own environment without settings of kaas.
func plainEnvironment() []string {
	var kept []string
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "KAAS_") && !strings.HasPrefix(entry, "MAKE") && !strings.HasPrefix(entry, "MFLAGS") {
			kept = append(kept, entry)
		}
	}
	return kept
}

// newcomer has two terminals: one where the broker runs, one for everything else.
type newcomer struct {
	dir    string
	env    []string
	broker *exec.Cmd
	// left is closed when make and the broker have left.
	left chan struct{}
}

func (n *newcomer) follow(t *testing.T, s step) {
	t.Helper()
	switch {
	case strings.HasPrefix(s.command, "make run"):
		n.stopBroker(t)
		n.startBroker(t, s.command)
		return
	case strings.HasPrefix(s.command, "pkill "):
		// Only the broker of this test, not everything of that name.
		signal := syscall.SIGTERM
		if strings.Contains(s.command, " -9 ") {
			signal = syscall.SIGKILL
		}
		n.signalBroker(t, signal)
		return
	}
	output := harness.Command{Program: "bash", Arguments: []string{"-c", s.command}, Dir: n.dir, Env: n.env}.Run(t)
	if !s.matches(output) {
		t.Fatalf("%s\nprinted\n%s\nbut README.md says\n%s", s.command, output, strings.Join(s.want, "\n"))
	}
}

func (n *newcomer) startBroker(t *testing.T, command string) {
	t.Helper()
	n.broker = exec.Command("bash", "-c", command)
	n.broker.Dir, n.broker.Env = n.dir, n.env
	n.broker.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	n.broker.Stdout, n.broker.Stderr = log, log
	if err := n.broker.Start(); err != nil {
		t.Fatal(err)
	}
	n.left = make(chan struct{})
	go func(broker *exec.Cmd, left chan struct{}) {
		defer close(left)
		_ = broker.Wait()
	}(n.broker, n.left)
	for deadline := time.Now().Add(2 * time.Minute); !listening(); time.Sleep(50 * time.Millisecond) {
		if n.hasLeft() || time.Now().After(deadline) {
			_, _ = log.Seek(0, io.SeekStart)
			text, _ := io.ReadAll(log)
			t.Fatalf("%s: nobody listens on %s\n%s", command, address, text)
		}
	}
}

func (n *newcomer) hasLeft() bool {
	select {
	case <-n.left:
		return true
	default:
		return false
	}
}

func (n *newcomer) stopBroker(t *testing.T) {
	t.Helper()
	if n.broker != nil {
		n.signalBroker(t, syscall.SIGTERM)
	}
}

// signalBroker sends a signal to make and what it started, and waits until the port is free.
func (n *newcomer) signalBroker(t *testing.T, signal syscall.Signal) {
	t.Helper()
	_ = syscall.Kill(-n.broker.Process.Pid, signal)
	<-n.left
	n.broker = nil
	for deadline := time.Now().Add(30 * time.Second); listening(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("somebody still listens on %s", address)
		}
	}
}

func listening() bool {
	connection, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return false
	}
	_ = connection.Close()
	return true
}
