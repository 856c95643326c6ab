package vfs

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// slowDisk takes a few bytes at a time, as a disk may, and sometimes an interruption comes.
type slowDisk struct {
	random  *rand.Rand
	content []byte
	err     error
	space   int
}

func (d *slowDisk) write(_ int, bufs [][]byte, off int64) (int, error) {
	joined := bytes.Join(bufs, nil)
	n := min(1+d.random.IntN(5), len(joined), d.space-int(off))
	if n == 0 {
		return 0, d.err
	}
	if need := int(off) + n; len(d.content) < need {
		d.content = append(d.content, make([]byte, need-len(d.content))...)
	}
	copy(d.content[off:], joined[:n])
	return n, nil
}

func TestShortWritesContinue(t *testing.T) {
	for seed := range uint64(50) {
		disk := &slowDisk{random: rand.New(rand.NewPCG(seed, 1)), space: 1 << 20}
		bufs := [][]byte{[]byte("abc"), nil, []byte("d"), []byte("efghijklm"), {}, []byte("nop")}
		n, err := writeVec(disk.write, 0, bufs, 2, 0)
		if err != nil || n != 16 || string(disk.content) != "\x00\x00abcdefghijklmnop" {
			t.Fatalf("seed %d: %d, %v, %q", seed, n, err, disk.content)
		}
		// After an interruption the write goes on where it stopped.
		if n, err = writeVec(disk.write, 0, bufs, 2, 7); err != nil || n != 16 || string(disk.content) != "\x00\x00abcdefghijklmnop" {
			t.Fatalf("seed %d, continued: %d, %v, %q", seed, n, err, disk.content)
		}
	}
}

func TestWriteWithoutProgress(t *testing.T) {
	for name, test := range map[string]struct{ reported, want error }{
		"nothing written": {nil, io.ErrShortWrite},
		"disk full":       {unix.ENOSPC, unix.ENOSPC},
	} {
		t.Run(name, func(t *testing.T) {
			disk := &slowDisk{random: rand.New(rand.NewPCG(1, 1)), space: 7, err: test.reported}
			n, err := writeVec(disk.write, 0, [][]byte{[]byte("hello"), []byte("world")}, 0, 0)
			if n != 7 || !errors.Is(err, test.want) {
				t.Fatalf("%d, %v", n, err)
			}
		})
	}
}

func openRoot(t *testing.T, root string) *descriptor {
	t.Helper()
	fsys, err := OS(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fsys.Close() })
	return fsys.(*osFS).root
}

func TestKindOfListedName(t *testing.T) {
	root := t.TempDir()
	if err := errors.Join(os.Mkdir(root+"/d", 0o700), os.WriteFile(root+"/f", nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	handle := openRoot(t, root)
	for name, test := range map[string]struct {
		name           string
		kind           byte
		isDir, present bool
	}{
		"directory":         {"anything", unix.DT_DIR, true, true},
		"file":              {"anything", unix.DT_REG, false, true},
		"unknown directory": {"d", unix.DT_UNKNOWN, true, true},
		"unknown file":      {"f", unix.DT_UNKNOWN, false, true},
		"unknown and gone":  {"none", unix.DT_UNKNOWN, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			isDir, present, err := handle.isDir(test.name, test.kind)
			if err != nil || isDir != test.isDir || present != test.present {
				t.Fatalf("%v, %v, %v", isDir, present, err)
			}
		})
	}
}

func TestMalformedListing(t *testing.T) {
	handle := openRoot(t, t.TempDir())
	record := make([]byte, 24)
	for name, length := range map[string]byte{"zero length": 0, "shorter than its header": 19, "longer than the buffer": 25} {
		t.Run(name, func(t *testing.T) {
			record[direntLength], record[direntLength+1] = length, 0
			if _, err := handle.appendEntries(nil, record); !errors.Is(err, unix.EIO) {
				t.Fatal(err)
			}
		})
	}
	t.Run("cut off", func(t *testing.T) {
		if _, err := handle.appendEntries(nil, record[:5]); !errors.Is(err, unix.EIO) {
			t.Fatal(err)
		}
	})
}

// Descriptors that cannot be synced show that a sync reaches the system.
func TestSyncReachesTheSystem(t *testing.T) {
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	raw, err := writer.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	file := &osFile{handle: &descriptor{file: writer, raw: raw}}
	defer file.Close()
	if err := file.Sync(); !errors.Is(err, unix.EINVAL) {
		t.Errorf("file: %v", err)
	}
	unsyncable, err := openRoot(t, t.TempDir()).openAt("open", ".", unix.O_PATH, 0)
	if err != nil {
		t.Fatal(err)
	}
	dir := &osDir{unsyncable}
	defer dir.Close()
	if err := dir.Sync(); !errors.Is(err, unix.EBADF) {
		t.Errorf("directory: %v", err)
	}
}
