package clusterdir_test

import (
	"errors"
	"math/rand/v2"
	"testing"
	"testing/synctest"

	"github.com/kaas-rs/kaas/kaas-storage/clusterdir"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

var errCrash = errors.New("the process is dead")

// dieAt lets a process work on fs until its nth change, counted from 1, which is not made, nor anything after it.
func dieAt(fs vfs.FS, n int) vfs.FS {
	changes := 0
	return vfs.NewFault(fs, func(op vfs.Op) error {
		if op.After {
			return nil
		}
		if op.Kind.Mutating() {
			changes++
		}
		if changes >= n {
			return errCrash
		}
		return nil
	})
}

func TestFirstOpenIsFinishedAfterACrashAtAnyStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for n := 1; ; n++ {
			memory := vfs.NewMem(0)
			d, died := clusterdir.Open(t.Context(), dieAt(memory, n), clusterdir.Options{Path: "__cluster"})
			if died != nil && !errors.Is(died, errCrash) {
				t.Fatal(died)
			}
			next := open(t, memory, clusterdir.Options{Path: "__cluster"})
			if again := open(t, memory, clusterdir.Options{Path: "__cluster"}); again.ClusterID() != next.ClusterID() {
				t.Fatalf("after a crash at change %d the id changed", n)
			}
			if died == nil {
				if d.ClusterID() != next.ClusterID() || n < 5 {
					t.Fatalf("opened with %s after %d changes, then with %s", d.ClusterID(), n, next.ClusterID())
				}
				_ = d.Close()
				return
			}
		}
	})
}

func TestWhatWasPromisedSurvivesAPowerCut(t *testing.T) {
	base := rand.Uint64()
	t.Logf("seed %d", base)
	crash := vfs.NewCrash(0)
	d := open(t, crash, clusterdir.Options{Path: "__cluster"})
	for round := range 12 {
		last, _, err := d.NextProducerBlock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := d.RaiseEpochFloor(10); err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(10) {
			choice := vfs.SurviveSeeded(base + seed)
			if seed == 0 {
				choice = vfs.SurviveNone
			}
			after := open(t, crash.PowerCut(choice), clusterdir.Options{Path: "__cluster"})
			if after.ClusterID() != d.ClusterID() {
				t.Fatalf("round %d, seed %d: the cluster id changed", round, base+seed)
			}
			if first, _, err := after.NextProducerBlock(t.Context()); err != nil || first <= last {
				t.Fatalf("round %d, seed %d: block %d after %d, error %v", round, base+seed, first, last, err)
			}
			if floor, err := after.EpochFloor(); err != nil || floor != 10 {
				t.Fatalf("round %d, seed %d: floor %d, error %v", round, base+seed, floor, err)
			}
		}
	}
}

func TestFencedOwnerStaysFencedAfterAPowerCut(t *testing.T) {
	base := rand.Uint64()
	t.Logf("seed %d", base)
	for seed := range uint64(20) {
		crash := vfs.NewCrash(0)
		first, second := open(t, crash, clusterdir.Options{}), open(t, crash, clusterdir.Options{})
		before, err := first.Claim(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		after, err := second.Claim(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		cut := crash.PowerCut(vfs.SurviveSeeded(base + seed))
		if claims := claimNames(t, cut); len(claims) != 1 {
			t.Fatalf("seed %d: claims %v after %d and %d", base+seed, claims, before, after)
		}
		if next, err := open(t, cut, clusterdir.Options{}).Claim(t.Context()); err != nil || next <= after {
			t.Fatalf("seed %d: epoch %d after %d, error %v", base+seed, next, after, err)
		}
	}
}

// A taker that was stopped between looking and taking finds the name free that others took and removed meanwhile.
func TestStoppedTakerGetsNoBlockThatWasTrimmed(t *testing.T) {
	memory := vfs.NewMem(0)
	other := open(t, memory, clusterdir.Options{})
	given := map[int64]bool{}
	takeOthers := func() {
		for range 20 {
			first, _, err := other.NextProducerBlock(t.Context())
			if err != nil {
				t.Error(err)
			}
			given[first] = true
		}
	}
	stopped := false
	slow := open(t, vfs.NewFault(memory, func(op vfs.Op) error {
		if op.Kind == vfs.OpMkdir && !op.After && op.Path == "producer_ids" && !stopped {
			stopped = true
			takeOthers()
		}
		return nil
	}), clusterdir.Options{})
	first, _, err := slow.NextProducerBlock(t.Context())
	if err != nil || !stopped {
		t.Fatalf("error %v, stopped %v", err, stopped)
	}
	if given[first] {
		t.Fatalf("block %d was given twice", first)
	}
}

func TestBlockIsNotGivenWhenItCannotBeMadeDurable(t *testing.T) {
	memory := vfs.NewMem(0)
	broken := errors.New("input/output error")
	fail := false
	d := open(t, vfs.NewFault(memory, func(op vfs.Op) error {
		if fail && op.Kind == vfs.OpSyncDir && op.Path == "producer_ids" && !op.After {
			return broken
		}
		return nil
	}), clusterdir.Options{})
	fail = true
	if first, _, err := d.NextProducerBlock(t.Context()); !errors.Is(err, broken) {
		t.Fatalf("block %d, error %v", first, err)
	}
}

func TestClaimThatCannotRemoveAnEarlierOneIsNone(t *testing.T) {
	memory := vfs.NewMem(0)
	first := open(t, memory, clusterdir.Options{})
	if _, err := first.Claim(t.Context()); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("input/output error")
	second := open(t, vfs.NewFault(memory, func(op vfs.Op) error {
		if op.Kind == vfs.OpRmdir && !op.After {
			return broken
		}
		return nil
	}), clusterdir.Options{})
	if _, err := second.Claim(t.Context()); !errors.Is(err, broken) {
		t.Fatalf("error %v", err)
	}
	if err := second.CheckClaim(); !errors.Is(err, clusterdir.ErrNotClaimed) {
		t.Fatalf("check: %v", err)
	}
}

func TestUncheckedClaimIsNotAFence(t *testing.T) {
	broken := errors.New("input/output error")
	d := open(t, vfs.NewFault(vfs.NewMem(0), func(op vfs.Op) error {
		if op.Kind == vfs.OpCheck && op.Name != "" && !op.After {
			return broken
		}
		return nil
	}), clusterdir.Options{})
	if _, err := d.Claim(t.Context()); !errors.Is(err, broken) || errors.Is(err, clusterdir.ErrFenced) {
		t.Fatalf("error %v", err)
	}
}
