package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/clusterdir"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// asProgram, when it is set, makes the test's binary the program: it starts itself again for the holder.
const asProgram = "KAAS_LOG_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	_ = os.Setenv(asProgram, "1")
	os.Exit(m.Run())
}

// call runs the program in this process.
func call(args ...string) (code int, out, problems string) {
	var stdout, stderr bytes.Buffer
	code = run(context.Background(), args, streams{strings.NewReader(""), &stdout, &stderr})
	return code, stdout.String(), stderr.String()
}

func TestUsage(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"nothing":              {nil, exitFailed, "kaas-log COMMAND --help"},
		"help":                 {[]string{"--help"}, exitOK, ""},
		"unknown command":      {[]string{"fix"}, exitFailed, `no command "fix"`},
		"help of a command":    {[]string{"substrate", "--help"}, exitOK, "host-a$"},
		"no directory":         {[]string{"verify"}, exitFailed, "needs one argument"},
		"two directories":      {[]string{"verify", "a", "b"}, exitFailed, "needs one argument"},
		"unknown flag":         {[]string{"dump", "a", "--hex"}, exitFailed, "-hex"},
		"role without a name":  {[]string{"substrate", "a", "--role", "taker"}, exitFailed, "--peer NAME"},
		"name without a role":  {[]string{"substrate", "a", "--peer", "x"}, exitFailed, "needs --role"},
		"unknown role":         {[]string{"substrate", "a", "--role", "judge", "--peer", "x"}, exitFailed, "holder or taker"},
		"freeze that is short": {[]string{"substrate", "a", "--freeze", "1s"}, exitFailed, "3s"},
	} {
		t.Run(name, func(t *testing.T) {
			if code, out, problems := call(c.args...); code != c.code || !strings.Contains(problems, c.says) {
				t.Errorf("exit %d, want %d; it says %s%s", code, c.code, out, problems)
			}
		})
	}
}

// writeLog makes a log of two owners and returns the directory above it.
func writeLog(t *testing.T, path string, records ...storage.Record) (root string) {
	t.Helper()
	root = t.TempDir()
	disk := openDisk(t, root)
	for range 2 {
		log, err := storage.OpenLog(t.Context(), disk, path)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range records {
			if _, err := log.Append(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		if err := log.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestDump(t *testing.T) {
	root := writeLog(t, "slots/17",
		storage.Record{Key: []byte(`{"group":"payments"}`), Value: []byte(`{"state":"Stable"}`)},
		storage.Record{Key: nil, Value: []byte{0, 1}})
	code, out, problems := call("dump", filepath.Join(root, "slots/17"), "--records")
	if code != exitOK {
		t.Fatalf("exit %d: %s", code, problems)
	}
	for _, wanted := range []string{
		"manifest.00000002", "log start     0", "leader epochs 1 from offset 0, 2 from offset 2", "recovery      offset 4",
		"segment 00000000000000000000.00000001.log", "offset 3 to 3", "1 records, epoch 2, none",
		`{"group":"payments"}  {"state":"Stable"}`, `null  "\x00\x01"`,
	} {
		if !strings.Contains(out, wanted) {
			t.Errorf("%q is missing in\n%s", wanted, out)
		}
	}
	if _, out, _ := call("dump", "--from", "3", filepath.Join(root, "slots/17"), "--limit", "1"); !strings.Contains(out, "offset 3 to 3") || strings.Contains(out, "offset 2 to 2") {
		t.Errorf("from offset 3:\n%s", out)
	}
}

func TestVerify(t *testing.T) {
	root := writeLog(t, "topic/id/0", storage.Record{Value: []byte("one")}, storage.Record{Value: []byte("two")})
	if code, out, problems := call("verify", root); code != exitOK || !strings.Contains(out, "1 partitions, 0 damaged") {
		t.Fatalf("exit %d: %s%s", code, out, problems)
	}
	segment := filepath.Join(root, "topic/id/0/00000000000000000000.00000001.log")
	data, err := os.ReadFile(segment)
	if err != nil {
		t.Fatal(err)
	}
	data[bytes.LastIndex(data, []byte("two"))] ^= 1
	if err := os.WriteFile(segment, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, _ := call("verify", root); code != exitBad || !strings.Contains(out, filepath.Base(segment)) || !strings.Contains(out, "checksum") {
		t.Errorf("exit %d: %s", code, out)
	}
	var verdicts []verdict
	code, out, _ := call("verify", "--json", root)
	if err := json.Unmarshal([]byte(out), &verdicts); err != nil || code != exitBad || len(verdicts) != 1 || verdicts[0].Sound {
		t.Errorf("exit %d, %v: %s", code, err, out)
	}
	if err := os.Remove(filepath.Join(root, "topic/id/0/manifest.00000002")); err != nil {
		t.Fatal(err)
	}
	if code, out, _ := call("verify", filepath.Join(root, "topic/id/0")); code != exitBad || !strings.Contains(out, "no manifest") {
		t.Errorf("without its manifest: exit %d: %s", code, out)
	}
	if code, _, problems := call("verify", t.TempDir()); code != exitFailed || !strings.Contains(problems, "no partition") {
		t.Errorf("of nothing: exit %d: %s", code, problems)
	}
}

// The claim of a cluster directory is not taken for a partition that has lost its manifest, and does not hide the coordinator's logs.
func TestVerifyOfADataDirectory(t *testing.T) {
	root := writeLog(t, "__cluster/__coordinator/17", storage.Record{Value: []byte("one")})
	disk, err := vfs.OS(root)
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	cluster, err := clusterdir.Open(t.Context(), disk, clusterdir.Options{Path: "__cluster"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cluster.Claim(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := cluster.Close(); err != nil {
		t.Fatal(err)
	}
	code, out, problems := call("verify", root)
	if code != exitOK || !strings.Contains(out, "__cluster/__coordinator/17") || !strings.Contains(out, "1 partitions, 0 damaged") {
		t.Errorf("exit %d: %s%s", code, out, problems)
	}
}
