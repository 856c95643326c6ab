package hostile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

// produceCode sends one record and returns the answer's code.
func produceCode(t *testing.T, address, topic string) int16 {
	t.Helper()
	connection := dial(t, address)
	defer connection.Close()
	response, err := connection.call(produceRequest(8, topic, -1, records(t, 0)), 40*time.Second)
	if err != nil {
		t.Fatalf("produce to %s: %v", topic, err)
	}
	return response.(*kmsg.ProduceResponse).Topics[0].Partitions[0].ErrorCode
}

// fetched is what one Fetch from the start says.
func fetched(t *testing.T, address, topic string) kmsg.FetchResponseTopicPartition {
	t.Helper()
	connection := dial(t, address)
	defer connection.Close()
	response, err := connection.call(fetchRequest(11, topic, 0), 40*time.Second)
	if err != nil {
		t.Fatalf("fetch %s: %v", topic, err)
	}
	return response.(*kmsg.FetchResponse).Topics[0].Partitions[0]
}

// eachFile calls act with the files below dir whose name contains part.
func eachFile(t *testing.T, dir, part string, act func(path string) error) {
	t.Helper()
	found := 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.Contains(entry.Name(), part) {
			return err
		}
		found++
		return act(path)
	})
	if err != nil {
		t.Fatal(err)
	}
	if found == 0 {
		t.Fatalf("no %s in %s", part, dir)
	}
}

// awaitTakeover waits until the partition is served or has failed to be.
func awaitTakeover(t *testing.T, address, topic string) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); fetched(t, address, topic).ErrorCode == kerr.NotLeaderForPartition.Code; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s is neither served nor refused", topic)
		}
	}
}

func flip(at func(size int64) int64) func(path string) error {
	return func(path string) error {
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		defer file.Close()
		info, err := file.Stat()
		if err != nil || info.Size() == 0 {
			return err
		}
		var one [1]byte
		if _, err := file.ReadAt(one[:], at(info.Size())); err != nil {
			return err
		}
		one[0] ^= 0x10
		_, err = file.WriteAt(one[:], at(info.Size()))
		return err
	}
}

func cut(keep func(size int64) int64) func(path string) error {
	return func(path string) error {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		return os.Truncate(path, keep(info.Size()))
	}
}

func middle(size int64) int64 { return size / 2 }

func fill0(path string) error { return os.WriteFile(path, make([]byte, 4096), 0o600) }

// What somebody has done to the files of one partition is that partition's trouble alone: the broker starts, serves the others, answers for this
// one, and says what is wrong.
func TestDamagedFiles(t *testing.T) {
	for _, damage := range []struct {
		name, part string
		act        func(path string) error
		// refused says that nothing can be served of the partition.
		refused bool
	}{
		{name: "log cut in half", part: ".log", act: cut(middle)},
		{name: "log cut to nothing", part: ".log", act: cut(func(int64) int64 { return 0 })},
		{name: "log without its last byte", part: ".log", act: cut(func(size int64) int64 { return size - 1 })},
		{name: "log flipped in the middle", part: ".log", act: flip(middle)},
		{name: "log flipped at the start", part: ".log", act: flip(func(int64) int64 { return 9 })},
		{name: "log removed", part: ".log", act: os.Remove},
		{name: "log is zeros", part: ".log", act: fill0},
		{name: "indexes are zeros", part: "index", act: fill0},
		{name: "indexes removed", part: "index", act: os.Remove},
		{name: "manifest removed", part: "manifest.", act: os.Remove, refused: true},
		{name: "manifest flipped", part: "manifest.", act: flip(middle), refused: true},
		{name: "manifest empty", part: "manifest.", act: cut(func(int64) int64 { return 0 }), refused: true},
		{name: "manifest is a directory", part: "manifest.", act: func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o750)) }, refused: true},
		{name: "settings are nonsense", part: ".config.json", act: func(path string) error { return os.WriteFile(path, []byte("{]"), 0o600) }},
	} {
		for _, killed := range []bool{false, true} {
			name := damage.name + " after a stop"
			if killed {
				name = damage.name + " after a kill"
			}
			t.Run(name, func(t *testing.T) {
				if killed && damage.part == "index" {
					t.Skip("indexes of the last segment are written at the end")
				}
				if !full() && (killed == (damage.part != ".log")) {
					t.Skip("in the long form")
				}
				broker := start(t, harness.Options{})
				createTopic(t, broker.Bootstrap(), "kept", 1)
				createTopic(t, broker.Bootstrap(), "hurt", 1)
				for range 20 {
					for _, topic := range []string{"kept", "hurt"} {
						if code := produceCode(t, broker.Bootstrap(), topic); code != 0 {
							t.Fatalf("produce to %s: %d", topic, code)
						}
					}
				}
				before := fetched(t, broker.Bootstrap(), "kept")
				if killed {
					broker.Kill(t)
				} else {
					broker.Stop(t)
				}
				eachFile(t, filepath.Join(broker.Dir(), "hurt"), damage.part, damage.act)
				broker.Resume(t)
				for _, topic := range []string{"kept", "hurt"} {
					awaitTakeover(t, broker.Bootstrap(), topic)
				}
				if after := fetched(t, broker.Bootstrap(), "kept"); after.HighWatermark != before.HighWatermark || len(after.RecordBatches) != len(before.RecordBatches) {
					t.Errorf("the other topic: watermark %d, %d bytes; want %d, %d", after.HighWatermark, len(after.RecordBatches), before.HighWatermark, len(before.RecordBatches))
				}
				hurt, code := fetched(t, broker.Bootstrap(), "hurt"), produceCode(t, broker.Bootstrap(), "hurt")
				t.Logf("fetch: error %d, watermark %d, %d bytes; produce: error %d", hurt.ErrorCode, hurt.HighWatermark, len(hurt.RecordBatches), code)
				if damage.refused && (code != kerr.KafkaStorageError.Code || hurt.ErrorCode != kerr.KafkaStorageError.Code) {
					t.Errorf("fetch answers %d and produce %d, want 56", hurt.ErrorCode, code)
				}
				if code := produceCode(t, broker.Bootstrap(), "kept"); code != 0 {
					t.Errorf("produce to the other topic: %d", code)
				}
				if status, left := broker.Left(); left {
					t.Errorf("the broker has left with status %d", status)
				}
				for _, line := range strings.Split(broker.Log(), "\n") {
					if strings.Contains(line, "hurt") {
						t.Logf("says: %.300s", line)
					}
				}
			})
		}
	}
}

// A file system that becomes read-only and writable again: appends are refused meanwhile, reads go on, nothing has to be restarted.
func TestFileSystemTurnsReadOnly(t *testing.T) {
	volume := harness.Volume(t, 200*mib, false)
	broker := start(t, harness.Options{Dir: filepath.Join(volume, "data")})
	createTopic(t, broker.Bootstrap(), "topic", 1)
	for range 10 {
		produceCode(t, broker.Bootstrap(), "topic")
	}
	// Open files keep a file system from becoming read-only as a whole, so this makes the directory unchangeable by mounting it over itself.
	remount := func(flags uintptr) error { return syscall.Mount("", volume, "", flags|syscall.MS_REMOUNT, "") }
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(200 * time.Millisecond) {
		err := remount(syscall.MS_RDONLY)
		if err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Skipf("cannot be made read-only while files are open: %v", err)
		}
	}
	codes := map[int16]int{}
	for range 10 {
		codes[produceCode(t, broker.Bootstrap(), "topic")]++
	}
	t.Logf("read-only: produce answers %v", codes)
	if codes[0] > 0 {
		t.Errorf("%d appends were acknowledged", codes[0])
	}
	// Idle files of the leadership that has ended are opened for writing, also to read them: only the long form insists.
	if got := fetched(t, broker.Bootstrap(), "topic"); full() && (got.HighWatermark != 30 || len(got.RecordBatches) == 0) {
		t.Errorf("fetch: error %d, watermark %d, %d bytes", got.ErrorCode, got.HighWatermark, len(got.RecordBatches))
	}
	if err := remount(0); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); produceCode(t, broker.Bootstrap(), "topic") != 0; time.Sleep(200 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("appends are refused a minute after the file system has become writable")
		}
	}
	if got := fetched(t, broker.Bootstrap(), "topic"); got.HighWatermark != 33 {
		t.Errorf("watermark %d, want 33", got.HighWatermark)
	}
}

// Directories that are removed under a running broker: nothing is acknowledged that cannot be found, and nothing takes their place.
func TestDirectoriesRemovedUnderTheBroker(t *testing.T) {
	for name, what := range map[string]string{"a partition": "hurt/*/0", "a topic": "hurt", "everything": "*"} {
		t.Run(name, func(t *testing.T) {
			broker := startDoomed(t, harness.Options{})
			createTopic(t, broker.Bootstrap(), "hurt", 1)
			createTopic(t, broker.Bootstrap(), "kept", 1)
			produceCode(t, broker.Bootstrap(), "hurt")
			paths, err := filepath.Glob(filepath.Join(broker.Dir(), what))
			if err != nil || len(paths) == 0 {
				t.Fatal(paths, err)
			}
			for _, path := range paths {
				if err := os.RemoveAll(path); err != nil {
					t.Fatal(err)
				}
			}
			connection, err := connect(broker.Bootstrap())
			if err == nil {
				response, err := connection.call(produceRequest(8, "hurt", -1, records(t, 0)), 40*time.Second)
				if err == nil {
					code := response.(*kmsg.ProduceResponse).Topics[0].Partitions[0].ErrorCode
					t.Logf("produce answers %d", code)
					if code == 0 {
						t.Error("an append to nowhere was acknowledged")
					}
				}
				connection.Close()
			}
			time.Sleep(2 * time.Second)
			status, left := broker.Left()
			t.Logf("left: %v, status %d", left, status)
			if left && status == 0 {
				t.Error("left with status 0")
			}
		})
	}
}

// Processes that are started on one directory at the same time, again and again: one is left, and it has everything that any of them acknowledged.
func TestManyProcessesOnOneDirectory(t *testing.T) {
	first := startDoomed(t, harness.Options{})
	createTopic(t, first.Bootstrap(), "shared", 1)
	acknowledged := int64(0)
	for range 10 {
		if produceCode(t, first.Bootstrap(), "shared") == 0 {
			acknowledged += 3
		}
	}
	brokers := []*harness.Broker{first}
	for range pick(3, 8) {
		brokers = append(brokers, startDoomed(t, harness.Options{Dir: first.Dir()}))
		last := brokers[len(brokers)-1]
		var work sync.WaitGroup
		var mutex sync.Mutex
		for _, broker := range brokers {
			work.Go(func() {
				for range 20 {
					connection, err := connect(broker.Bootstrap())
					if err != nil {
						return // it has left
					}
					response, err := connection.call(produceRequest(8, "shared", -1, records(t, 0)), 20*time.Second)
					connection.Close()
					if err == nil && response.(*kmsg.ProduceResponse).Topics[0].Partitions[0].ErrorCode == 0 {
						mutex.Lock()
						acknowledged += 3
						mutex.Unlock()
					}
				}
			})
		}
		work.Wait()
		for _, broker := range brokers[:len(brokers)-1] {
			if status := broker.WaitLeft(t, 30*time.Second); status == 0 {
				t.Error("a process that was replaced left with status 0")
			}
		}
		brokers = []*harness.Broker{last}
	}
	awaitTakeover(t, brokers[0].Bootstrap(), "shared")
	got := fetched(t, brokers[0].Bootstrap(), "shared")
	t.Logf("%d acknowledged, watermark %d", acknowledged, got.HighWatermark)
	if got.HighWatermark < acknowledged {
		t.Errorf("%d records were acknowledged, the log ends at %d", acknowledged, got.HighWatermark)
	}
}
