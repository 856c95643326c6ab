package clusterdir_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	storage "github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/clusterdir"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

func TestEpochFloorOnlyGrows(t *testing.T) {
	onEachFS(t, func(t *testing.T, fs vfs.FS) {
		first, second := open(t, fs, clusterdir.Options{}), open(t, fs, clusterdir.Options{})
		steps := []struct {
			by    *clusterdir.Dir
			raise storage.Epoch
			want  storage.Epoch
		}{
			{first, 0, 0}, {first, 7, 7}, {second, 3, 7}, {second, 7, 7}, {second, 300, 300}, {first, 8, 300}, {first, math.MaxInt32, math.MaxInt32},
		}
		if floor, err := first.EpochFloor(); err != nil || floor != 0 {
			t.Fatalf("floor begins at %d, error %v", floor, err)
		}
		for _, step := range steps {
			if err := step.by.RaiseEpochFloor(step.raise); err != nil {
				t.Fatal(err)
			}
			for _, d := range []*clusterdir.Dir{first, second, open(t, fs, clusterdir.Options{})} {
				if floor, err := d.EpochFloor(); err != nil || floor != step.want {
					t.Fatalf("floor %d after raising to %d, want %d, error %v", floor, step.raise, step.want, err)
				}
			}
		}
		if err := first.RaiseEpochFloor(-1); err == nil {
			t.Fatal("a negative floor was accepted")
		}
	})
}

func TestEpochFloorDirectoryStaysSmall(t *testing.T) {
	fs := vfs.NewMem(0)
	d := open(t, fs, clusterdir.Options{})
	for epoch := range storage.Epoch(100) {
		if err := d.RaiseEpochFloor(epoch); err != nil {
			t.Fatal(err)
		}
	}
	if left := names(t, fs, "epoch_floor"); len(left) > 10 {
		t.Fatalf("%d names left", len(left))
	}
}

func TestProducerBlocksAreNeverGivenTwice(t *testing.T) {
	onEachFS(t, func(t *testing.T, fs vfs.FS) {
		given := map[int64]bool{}
		var last int64 = -1
		for range 5 {
			d := open(t, fs, clusterdir.Options{})
			for range 10 {
				first, count, err := d.NextProducerBlock(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if count != 1000 || first%1000 != 0 || first <= last || given[first] {
					t.Fatalf("block from %d of %d after %d", first, count, last)
				}
				given[first], last = true, first
			}
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if last != 49_000 {
			t.Fatalf("blocks were skipped: the 50th begins at %d", last)
		}
		if left := names(t, fs, "producer_ids"); len(left) > 10 || left[len(left)-1] != "0000000000000049" {
			t.Fatalf("names left: %v", left)
		}
	})
}

func TestProducerBlocksOfManyTakers(t *testing.T) {
	onEachFS(t, func(t *testing.T, fs vfs.FS) {
		var mutex sync.Mutex
		given := map[int64]int{}
		var group sync.WaitGroup
		for taker := range 6 {
			d := open(t, fs, clusterdir.Options{})
			group.Go(func() {
				for range 20 {
					first, _, err := d.NextProducerBlock(t.Context())
					if err != nil {
						t.Error(err)
						return
					}
					mutex.Lock()
					if other, twice := given[first]; twice {
						t.Errorf("block %d was given to %d and %d", first, other, taker)
					}
					given[first] = taker
					mutex.Unlock()
				}
			})
		}
		group.Wait()
	})
}

func TestProducerBlocksRunOut(t *testing.T) {
	fs := vfs.NewMem(0)
	d := open(t, fs, clusterdir.Options{})
	if err := fs.MkdirAll(fmt.Sprintf("producer_ids/%016d", math.MaxInt64/1000-1)); err != nil {
		t.Fatal(err)
	}
	if first, _, err := d.NextProducerBlock(t.Context()); err == nil {
		t.Fatalf("a block from %d after the last one", first)
	}
}

// takerVariable makes the test binary a process that takes blocks in the named directory until it is killed.
const takerVariable = "KAAS_TEST_TAKE_BLOCKS_IN"

func TestProducerBlocksOfKilledProcesses(t *testing.T) {
	if root := os.Getenv(takerVariable); root != "" {
		takeUntilKilled(t, root)
		return
	}
	if testing.Short() {
		t.Skip("starts processes")
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	root := t.TempDir()
	disk(t, root)
	given := map[string]bool{}
	for range 3 {
		var outputs []*strings.Builder
		var group sync.WaitGroup
		for range 2 {
			output := &strings.Builder{}
			outputs = append(outputs, output)
			command := exec.Command(os.Args[0], "-test.run=^TestProducerBlocksOfKilledProcesses$")
			command.Env = append(os.Environ(), takerVariable+"="+root)
			pipe, err := command.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := command.Start(); err != nil {
				t.Fatal(err)
			}
			limit := 200 + random.IntN(2000)
			group.Go(func() {
				chunk := make([]byte, 64)
				for output.Len() < limit {
					n, err := pipe.Read(chunk)
					output.Write(chunk[:n])
					if err != nil {
						break
					}
				}
				_ = command.Process.Kill()
				_ = command.Wait()
			})
		}
		group.Wait()
		for _, output := range outputs {
			lines := strings.Split(output.String(), "\n")
			// What follows the last line break is a line that the kill cut.
			for _, line := range lines[:len(lines)-1] {
				if given[line] {
					t.Fatalf("block %s was given twice", line)
				}
				given[line] = true
			}
		}
	}
	if len(given) < 50 {
		t.Fatalf("only %d blocks were taken", len(given))
	}
}

func takeUntilKilled(t *testing.T, root string) {
	d := open(t, disk(t, root), clusterdir.Options{})
	for range 100_000 {
		first, _, err := d.NextProducerBlock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stdout.WriteString(strconv.FormatInt(first, 10) + "\n"); err != nil {
			return
		}
	}
}
