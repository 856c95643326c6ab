package harness

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// apache is an Apache Kafka 3.7.2 with one node, run by the shared scripts.
type apache struct {
	address string
	options Options
	scripts string
}

func newApache(t testing.TB, address string, options Options) *apache {
	t.Helper()
	if len(options.Flags) > 0 || len(options.Env) > 0 {
		t.Skip("gives flags of kaas, which Apache Kafka does not have")
	}
	return &apache{address: address, options: options, scripts: filepath.Dir(Shared(t, "kafka/start.sh"))}
}

func (a *apache) start(t testing.TB) {
	t.Helper()
	_, port, err := net.SplitHostPort(a.address)
	if err != nil {
		t.Fatal(err)
	}
	arguments := append([]string{a.options.Dir, port, "log.flush.interval.messages=1"}, a.options.settings()...)
	a.run(t, "start.sh", arguments...)
}

func (a *apache) kill(t testing.TB) {
	t.Helper()
	a.run(t, "stop.sh", a.options.Dir, "KILL")
}

func (a *apache) terminate(t testing.TB) {
	t.Helper()
	a.run(t, "stop.sh", a.options.Dir)
}

// wait always says that Apache Kafka runs: tests that ask are about kaas.
func (a *apache) wait(time.Duration) (int, bool) { return 0, false }

func (a *apache) run(t testing.TB, script string, arguments ...string) {
	t.Helper()
	command := exec.Command(filepath.Join(a.scripts, script), arguments...) //nolint:noctx // runs in cleanup functions, too
	command.Env = append(os.Environ(), "KAFKA_HEAP=512m")
	// The broker inherits the script's output, so a pipe would stay open: a file does not.
	file, err := os.Create(filepath.Join(t.TempDir(), "output"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	command.Stdout = file
	command.Stderr = file
	if err := command.Run(); err != nil {
		text, _ := os.ReadFile(file.Name())
		t.Fatalf("%s: %v\n%s", script, err, text)
	}
}

func (a *apache) log() string {
	text, err := os.ReadFile(filepath.Join(a.options.Dir, "server.log"))
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// ShellTools is the folder with the shell tools of an Apache Kafka version, fetched once. The test is skipped when it cannot be.
func ShellTools(t testing.TB, version string) string {
	t.Helper()
	fetch := exec.CommandContext(t.Context(), Shared(t, "kafka/fetch.sh"))
	fetch.Env = append(os.Environ(), "KAFKA_VERSION="+version)
	fetch.Stderr = os.Stderr
	home, err := fetch.Output()
	if err != nil {
		Missing(t, "fetch the shell tools of Apache Kafka "+version+": "+err.Error())
	}
	return filepath.Join(strings.TrimSpace(string(home)), "bin")
}
