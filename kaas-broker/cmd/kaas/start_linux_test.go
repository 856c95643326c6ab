package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// directory makes a data directory of a broker that has run, and a place for files beside it.
func usedDirectory(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	start(t, "--data-dir", dir).stop(t)
	return dir
}

func occupied(t *testing.T) string {
	t.Helper()
	holder, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = holder.Close() })
	return holder.Addr().String()
}

// What cannot start says why in one line that names what is to blame, and ends with a status.
func TestCannotStart(t *testing.T) {
	t.Parallel()
	for name, arguments := range map[string]func(t *testing.T) (arguments, blamed []string){
		"port in use": func(t *testing.T) ([]string, []string) {
			address := occupied(t)
			return []string{"--listeners", "PLAINTEXT://" + address, "--health-addr", "off"}, []string{address, "in use", "PLAINTEXT"}
		},
		"health port in use and a data directory": func(t *testing.T) ([]string, []string) {
			address := occupied(t)
			return []string{"--data-dir", t.TempDir(), "--listeners", "PLAINTEXT://127.0.0.1:0", "--health-addr", address}, []string{address, "in use", "health"}
		},
		"data directory below a file": func(t *testing.T) ([]string, []string) {
			file := filepath.Join(t.TempDir(), "file")
			write(t, file, "x")
			return single(filepath.Join(file, "data")), []string{filepath.Join(file), "data directory"}
		},
		"cluster directory below a file": func(t *testing.T) ([]string, []string) {
			file := filepath.Join(t.TempDir(), "file")
			write(t, file, "x")
			return single(t.TempDir(), "--cluster-dir", filepath.Join(file, "cluster")), []string{filepath.Join(file), "cluster directory"}
		},
		"read-only data directory": func(t *testing.T) ([]string, []string) {
			dir := readOnly(t)
			return single(dir), []string{dir, "read-only"}
		},
		"read-only data directory beside a cluster directory": func(t *testing.T) ([]string, []string) {
			dir := readOnly(t)
			return single(dir, "--cluster-dir", t.TempDir()), []string{"data directory " + dir, "read-only"}
		},
		"volume of a future version": func(t *testing.T) ([]string, []string) {
			dir := usedDirectory(t)
			edit(t, filepath.Join(dir, ".kaas-volume.json"), `"version":1`, `"version":99`)
			return single(dir), []string{dir, ".kaas-volume.json", "version 99", "later version"}
		},
		"cluster directory of a future version": func(t *testing.T) ([]string, []string) {
			dir := usedDirectory(t)
			edit(t, filepath.Join(dir, "__cluster", "cluster.json"), `"version":1`, `"version":99`)
			return single(dir), []string{filepath.Join(dir, "__cluster"), "cluster.json", "version 99", "later version"}
		},
		"data directory of another cluster": func(t *testing.T) ([]string, []string) {
			dir := usedDirectory(t)
			return single(dir, "--cluster-dir", t.TempDir()), []string{dir, "another cluster"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			arguments, blamed := arguments(t)
			p := launch(t, arguments...)
			p.exits(t, exitFailed, append(blamed, "kaas cannot start")...)
			if lines := strings.Count(p.output.String(), "\n"); lines != 1 {
				t.Errorf("%d lines:\n%s", lines, p.output)
			}
		})
	}
}

func single(dir string, more ...string) []string {
	return append([]string{"--data-dir", dir, "--listeners", "PLAINTEXT://127.0.0.1:0", "--health-addr", "off"}, more...)
}

// readOnly is a directory on a file system that is mounted read-only.
func readOnly(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	mount(t, "tmpfs", dir, "tmpfs", syscall.MS_RDONLY, "size=1m")
	return dir
}

// mount mounts until the test ends; a test that may not is skipped.
func mount(t *testing.T, source, target, kind string, flags uintptr, data string) {
	t.Helper()
	if err := syscall.Mount(source, target, kind, flags, data); err != nil {
		t.Skipf("needs the right to mount a file system: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(target, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
}

func edit(t *testing.T, path, old, replacement string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), old) {
		t.Fatalf("%s does not hold %s: %s", path, old, text)
	}
	write(t, path, strings.Replace(string(text), old, replacement, 1))
}

func TestHealthPortMovesInDevMode(t *testing.T) {
	// Nobody has chosen the port: whoever holds 8080, if this test does not, it is in use.
	if holder, err := net.Listen("tcp", "127.0.0.1:8080"); err == nil {
		t.Cleanup(func() { _ = holder.Close() })
	}
	p := serving(t, launch(t, "--listeners", "PLAINTEXT://127.0.0.1:0"))
	line := p.await(t, "another port was taken")
	mention(t, "warning", line, []string{"127.0.0.1:8080", p.health, `"level":"warn"`})
	eventually(t, "ready", func() bool { status, _ := p.get(t, "/readyz"); return status == 200 })
	p.stop(t)
}

// manifest asks for a topic.
func manifest(t *testing.T, clusterDir, topic string, partitions int, config string) {
	t.Helper()
	write(t, filepath.Join(clusterDir, "topics", topic+".yaml"), "apiVersion: kaas.rs/v1alpha1\nkind: KafkaTopic\nmetadata:\n  name: "+topic+
		"\nspec:\n  partitions: "+strconv.Itoa(partitions)+"\n  config: {"+config+"}\n")
}

func limited(t *testing.T, files int, arguments ...string) *process {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	script := "ulimit -n " + strconv.Itoa(files) + ` && exec "$0" "$@"`
	return launchCommand(t, exec.Command("sh", append([]string{"-c", script, binary}, arguments...)...))
}

func TestTooFewFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	manifest(t, filepath.Join(dir, "__cluster"), "wide", 100, "")
	p := limited(t, 100, "--health-addr", "off", "--listeners", "PLAINTEXT://127.0.0.1:0")
	p.exits(t, exitFailed, "only 100 open files are allowed", "at least 164 are needed for 0 partitions", "ulimit -n")

	p = serving(t, limited(t, 524, "--data-dir", dir, "--listeners", "PLAINTEXT://127.0.0.1:0", "--health-addr", "127.0.0.1:0"))
	p.await(t, "few open files are allowed")
	eventually(t, "ready", func() bool { status, _ := p.get(t, "/readyz"); return status == 200 })
	produce(t, newClient(t, p.address), "wide", numbers(0, 10)...)
	if strings.Contains(p.output.String(), "too many open files") {
		t.Error("ran out of the files that were said to be enough")
	}
	manifest(t, filepath.Join(dir, "__cluster"), "more", 1, "")
	mention(t, "refusal", p.await(t, "too many partitions for this broker"), []string{"101 partitions in all need at least 525 open files, the broker may open 524", "ulimit -n"})
	p.stop(t)

	p = limited(t, 523, single(dir)...)
	p.exits(t, exitFailed, "only 523 open files are allowed", "at least 524 are needed for 100 partitions", "ulimit -n 999")
}
