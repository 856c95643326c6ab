package main

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// rigVariable names the folder of a rig of virtual machines: its program rig runs commands in the machines c1 and c2, which have one NFS volume
// mounted at /data, and freezes them.
const rigVariable = "KAAS_NFS_RIG"

// rig is a running rig.
type rig struct {
	t   *testing.T
	dir string
}

func (r rig) command(args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(r.dir, "rig"), args...)
	cmd.Dir = r.dir
	return cmd
}

func (r rig) do(args ...string) {
	r.t.Helper()
	if out, err := r.command(args...).CombinedOutput(); err != nil {
		r.t.Fatalf("rig %s: %v: %s", strings.Join(args, " "), err, out)
	}
}

// Two clients of a kernel's NFS server, one of which is frozen as a whole.
func TestSubstrateOnNFS(t *testing.T) {
	r := rig{t, os.Getenv(rigVariable)}
	if r.dir == "" {
		t.Skipf("set %s to the folder of a rig whose virtual machines c1 and c2 are up", rigVariable)
	}
	binary := filepath.Join(t.TempDir(), "kaas-log")
	build := exec.Command("go", "build", "-o", binary, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, machine := range []string{"c1", "c2"} {
		r.do("put", machine, binary, "/bin/kaas-log")
	}
	name := strings.ToLower(rand.Text()[:8])
	r.do("spawn", "c1", "holder-"+name, "--", "kaas-log", "substrate", "/data", "--role", "holder", "--peer", name)
	taker := r.command("exec", "-t", "5m", "c2", "--", "kaas-log", "substrate", "/data", "--role", "taker", "--peer", name, "--freeze", "20s", "--by-hand", "--json")
	var out bytes.Buffer
	taker.Stdout = &out
	said, err := taker.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := taker.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(said); lines.Scan(); {
		switch line := lines.Text(); {
		case strings.HasPrefix(line, "freeze"):
			r.do("freeze", "c1")
		case strings.Contains(line, "go on"):
			r.do("thaw", "c1")
		default:
			t.Log(line)
		}
	}
	ended := taker.Wait()
	var result report
	if err := json.Unmarshal(out.Bytes(), &result); err != nil {
		t.Fatalf("%v, %v: %s", ended, err, &out)
	}
	for _, s := range result.Steps {
		if t.Logf("%t %.1f ms %s: %s", s.OK, s.Millis, s.Name, s.Detail); !s.OK {
			t.Fail()
		}
	}
	if ended != nil || !result.Fences || len(result.Steps) != 11 {
		t.Errorf("%v; fences: %t, %d steps", ended, result.Fences, len(result.Steps))
	}
}
