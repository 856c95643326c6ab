package storage_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// ownerDirectory, when it is set, makes this test binary an owner of the log there.
const ownerDirectory = "KAAS_STORAGE_TEST_OWNER"

// TestOwnerProcess is the other process of TestTwoProcessesOnOneDirectory. It appends until it cannot, and prints each acknowledgement.
func TestOwnerProcess(t *testing.T) {
	root := os.Getenv(ownerDirectory)
	if root == "" {
		t.Skip("runs as a process of its own")
	}
	disk, err := vfs.OS(root)
	must(t, err)
	log, err := storage.OpenLog(context.Background(), disk, "p")
	must(t, err)
	for i := 0; ; i++ {
		value := fmt.Sprintf("%d-%d", os.Getpid(), i)
		offset, err := log.Append(context.Background(), storage.Record{Value: []byte(value)})
		if err != nil {
			fmt.Printf("end fenced=%t %v\n", errors.Is(err, storage.ErrFenced), err)
			return
		}
		fmt.Printf("ack %d %s\n", offset, value)
	}
}

// owner is a running TestOwnerProcess.
type owner struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines *bufio.Scanner
	acks  map[int64]string
}

func startOwner(t *testing.T, root string, acks map[int64]string) *owner {
	t.Helper()
	o := &owner{t: t, cmd: exec.Command(os.Args[0], "-test.run=^TestOwnerProcess$", "-test.timeout=60s"), acks: acks}
	o.cmd.Env = append(os.Environ(), ownerDirectory+"="+root)
	out, err := o.cmd.StdoutPipe()
	must(t, err)
	o.lines = bufio.NewScanner(out)
	must(t, o.cmd.Start())
	t.Cleanup(func() {
		_ = o.cmd.Process.Kill()
		_ = o.cmd.Wait()
	})
	return o
}

// read takes in acknowledgements: n of them, or all until the process says why it ended.
func (o *owner) read(n int) (end string) {
	o.t.Helper()
	for ; n != 0 && o.lines.Scan(); n-- {
		line := o.lines.Text()
		if strings.HasPrefix(line, "end ") {
			return line
		}
		var offset int64
		var value string
		if _, err := fmt.Sscanf(line, "ack %d %s", &offset, &value); err != nil {
			o.t.Fatalf("owner printed %q", line)
		}
		if old, known := o.acks[offset]; known {
			o.t.Fatalf("offset %d was acknowledged as %s and as %s", offset, old, value)
		}
		o.acks[offset] = value
	}
	return ""
}

func TestTwoProcessesOnOneDirectory(t *testing.T) {
	rounds := 300
	if testing.Short() {
		rounds = 10
	}
	if os.Getenv("KAAS_SOAK") == "1" {
		rounds = 3000
	}
	root := t.TempDir()
	acks := map[int64]string{}
	first := startOwner(t, root, acks)
	for round := range rounds {
		first.read(5 + round%3)
		must(t, first.cmd.Process.Signal(syscall.SIGSTOP))
		second := startOwner(t, root, acks)
		second.read(5)
		must(t, first.cmd.Process.Signal(syscall.SIGCONT))
		if end := first.read(-1); !strings.Contains(end, "fenced=true") {
			t.Fatalf("round %d: the first owner ended with %q", round, end)
		}
		first = second
	}
	must(t, first.cmd.Process.Kill())
	first.read(-1)
	disk, err := vfs.OS(root)
	must(t, err)
	defer disk.Close()
	log, err := storage.OpenLog(context.Background(), disk, "p")
	must(t, err)
	defer log.Close(context.Background())
	for r, err := range log.Read(0) {
		must(t, err)
		if want, known := acks[r.Offset]; known && want != string(r.Value) {
			t.Errorf("offset %d holds %s, acknowledged was %s", r.Offset, r.Value, want)
		}
		delete(acks, r.Offset)
	}
	if len(acks) > 0 {
		t.Errorf("lost: %v", acks)
	}
}
