package vfs_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
	"golang.org/x/sys/unix"
)

// processRole makes the test binary play another process.
const processRole = "VFS_TEST_PROCESS"

// TestOtherProcess is not a test of its own: it is the other process.
func TestOtherProcess(t *testing.T) {
	root := os.Getenv(processRole)
	if root == "" {
		t.Skip("runs only as the second process of other tests")
	}
	fsys := openOS(t, root)
	dir := openDir(t, fsys, ".")
	var claim vfs.Claim
	var err error
	commands := bufio.NewScanner(os.Stdin)
	for commands.Scan() {
		command, name, _ := strings.Cut(commands.Text(), " ")
		switch command {
		case "hold":
			claim, err = dir.Hold(name)
		case "check":
			err = claim.Check()
		case "mkdir":
			err = dir.Mkdir(name)
		case "rmdir":
			err = dir.Rmdir(name)
		case "exhaust":
			err = exhaustDescriptors(dir, name)
		}
		fmt.Println("answer:", describe(err))
	}
}

func describe(err error) string {
	for name, target := range map[string]error{"unlinked": vfs.ErrUnlinked, "taken": os.ErrExist, "too many files": syscall.EMFILE} {
		if errors.Is(err, target) {
			return name
		}
	}
	return fmt.Sprint(err)
}

func exhaustDescriptors(dir vfs.Dir, name string) error {
	limit := unix.Rlimit{Cur: 40, Max: 40}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	for range 100 {
		if _, err := dir.OpenDir(name); err != nil {
			return err
		}
	}
	return nil
}

// process is the other end of TestOtherProcess.
type process struct {
	t       *testing.T
	in      io.Writer
	answers *bufio.Scanner
}

func startProcess(t *testing.T, root string) *process {
	t.Helper()
	command := exec.Command(os.Args[0], "-test.run=^TestOtherProcess$")
	command.Env = append(os.Environ(), processRole+"="+root)
	in, err := command.StdinPipe()
	must(t, err)
	out, err := command.StdoutPipe()
	must(t, err)
	must(t, command.Start())
	t.Cleanup(func() {
		in.Close()
		if err := command.Wait(); err != nil {
			t.Error(err)
		}
	})
	return &process{t: t, in: in, answers: bufio.NewScanner(out)}
}

func (p *process) do(command, want string) {
	p.t.Helper()
	fmt.Fprintln(p.in, command)
	for p.answers.Scan() {
		if answer, ok := strings.CutPrefix(p.answers.Text(), "answer: "); ok {
			if answer != want {
				p.t.Fatalf("%s: %s, want %s", command, answer, want)
			}
			return
		}
	}
	p.t.Fatalf("%s: the other process ended", command)
}

func TestClaimRemovedByAnotherProcess(t *testing.T) {
	root := t.TempDir()
	dir := openDir(t, openOS(t, root), ".")
	other := startProcess(t, root)
	other.do("mkdir leader.00000001", "<nil>")
	if err := dir.Mkdir("leader.00000001"); !errors.Is(err, os.ErrExist) {
		t.Fatal(err)
	}
	other.do("hold leader.00000001", "<nil>")
	mine, err := dir.Hold("leader.00000001")
	must(t, err)
	defer mine.Close()
	other.do("check", "<nil>")

	must(t, dir.Rmdir("leader.00000001"))
	other.do("check", "unlinked")
	must(t, dir.Mkdir("leader.00000001"))
	other.do("check", "unlinked")

	again, err := dir.Hold("leader.00000001")
	must(t, err)
	defer again.Close()
	must(t, again.Check())
	other.do("rmdir leader.00000001", "<nil>")
	if err := again.Check(); !errors.Is(err, vfs.ErrUnlinked) {
		t.Fatal(err)
	}
	if err := mine.Check(); !errors.Is(err, vfs.ErrUnlinked) {
		t.Fatal(err)
	}
}

// The path by which somebody removes a claim does not matter.
func TestClaimRemovedByPath(t *testing.T) {
	root := t.TempDir()
	fsys := openOS(t, root)
	must(t, fsys.MkdirAll("a/b/c"))
	claim, err := openDir(t, fsys, "a/b").Hold("c")
	must(t, err)
	defer claim.Close()
	must(t, os.Rename(root+"/a", root+"/x"))
	must(t, claim.Check())
	must(t, os.RemoveAll(root+"/x"))
	if err := claim.Check(); !errors.Is(err, vfs.ErrUnlinked) {
		t.Fatal(err)
	}
}

func TestTooManyFiles(t *testing.T) {
	root := t.TempDir()
	must(t, os.Mkdir(root+"/d", 0o700))
	startProcess(t, root).do("exhaust d", "too many files")
}
