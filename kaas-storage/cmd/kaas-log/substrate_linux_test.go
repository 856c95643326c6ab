package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

func openDisk(t *testing.T, root string) vfs.FS {
	t.Helper()
	disk, err := vfs.OS(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = disk.Close() })
	return disk
}

// place is a directory on the volume that is to be tried: KAAS_TEST_DIR, or the one of temporary files.
func place(t *testing.T) string {
	t.Helper()
	at := os.Getenv("KAAS_TEST_DIR")
	if at == "" {
		return t.TempDir()
	}
	dir := filepath.Join(at, "kaas-log-"+strings.ToLower(rand.Text()))
	if err := os.Mkdir(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// judgeReport wants every step to be fine, and nothing to be left.
func judgeReport(t *testing.T, dir string, out []byte, steps int) {
	t.Helper()
	var r report
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, s := range r.Steps {
		if !s.OK {
			t.Errorf("%s: %s", s.Name, s.Detail)
		}
	}
	if !r.Fences || len(r.Steps) != steps || r.Holder == r.Taker {
		t.Errorf("fences: %t; %d steps by %s and %s", r.Fences, len(r.Steps), r.Holder, r.Taker)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

func TestSubstrateOnOneHost(t *testing.T) {
	dir := place(t)
	code, out, problems := call("substrate", dir, "--json", "--freeze", "4s")
	if code != exitOK {
		t.Fatalf("exit %d: %s%s", code, out, problems)
	}
	judgeReport(t, dir, []byte(out), 10)
}

// Two that know nothing of each other but a directory and a name.
func TestSubstrateOnTwoHosts(t *testing.T) {
	dir := place(t)
	start := func(role string) (*exec.Cmd, *bytes.Buffer) {
		cmd := exec.Command(os.Args[0], "substrate", dir, "--role", role, "--peer", "trial", "--freeze", "4s", "--wait", "1m", "--json")
		var out bytes.Buffer
		cmd.Stdout = &out
		cmd.Stderr = io.Discard
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill() })
		return cmd, &out
	}
	taker, out := start("taker")
	holder, _ := start("holder")
	if err := taker.Wait(); err != nil {
		t.Errorf("taker: %v: %s", err, out)
	}
	if err := holder.Wait(); err != nil {
		t.Errorf("holder: %v", err)
	}
	judgeReport(t, dir, out.Bytes(), 10)
}

func TestSubstrateLeavesAnotherTrialAlone(t *testing.T) {
	dir := place(t)
	if err := os.Mkdir(filepath.Join(dir, "kaas-substrate-x"), 0o750); err != nil {
		t.Fatal(err)
	}
	code, _, problems := call("substrate", dir, "--role", "holder", "--peer", "x")
	if code != exitFailed || !strings.Contains(problems, "there already") {
		t.Errorf("exit %d: %s", code, problems)
	}
}

// deafFS is a file system on which nobody learns that a held directory was removed.
type deafFS struct{ vfs.FS }

type deafDir struct{ vfs.Dir }

type deafClaim struct{ vfs.Claim }

func (f deafFS) OpenDir(path string) (vfs.Dir, error) { return deaf(f.FS.OpenDir(path)) }

func (d deafDir) OpenDir(name string) (vfs.Dir, error) { return deaf(d.Dir.OpenDir(name)) }

func deaf(d vfs.Dir, err error) (vfs.Dir, error) {
	if err != nil {
		return nil, err
	}
	return deafDir{d}, nil
}

func (d deafDir) Hold(name string) (vfs.Claim, error) {
	c, err := d.Dir.Hold(name)
	return deafClaim{c}, err
}

func (deafClaim) Check() error { return nil }

// standstill is a supervisor of a process that stands still while it asks for that.
type standstill time.Duration

func (s standstill) Write(p []byte) (int, error) {
	time.Sleep(time.Duration(s))
	return len(p), nil
}

// The judgement of a volume that does not fence, with both sides in one process.
func TestSubstrateFindsWhatDoesNotFence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := deafFS{vfs.NewMem(64 << 20)}
		o := &options{dir: "memory", peer: "x", freeze: 5 * time.Second, wait: time.Minute}
		ended := make(chan error, 1)
		go func() {
			ended <- o.work(t.Context(), disk, streams{strings.NewReader(""), standstill(o.freeze), io.Discard})
		}()
		synctest.Wait()
		dir, err := disk.OpenDir(o.meeting())
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		tried := &trial{
			options: o, disk: disk, dir: dir, streams: streams{err: io.Discard},
			holder: &mailbox{dir: dir, timeout: time.Minute}, acked: map[int64]string{}, report: newReport(false, &out),
		}
		if err := tried.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		failed := map[string]bool{}
		for _, s := range tried.report.Steps {
			failed[s.Name] = !s.OK
		}
		for _, name := range []string{"claims fence within the taker", "the holder notices that its claim was removed", "takeover from a holder at work"} {
			if !failed[name] {
				t.Errorf("%q is fine", name)
			}
		}
		if err := tried.report.finish(); err == nil || !strings.Contains(out.String(), "Do not keep logs") {
			t.Errorf("%v: %s", err, &out)
		}
		if t.Failed() {
			fmt.Println(out.String())
		}
		if err := <-ended; err != nil {
			t.Errorf("the holder ended with %v", err)
		}
	})
}
