package clusterdir_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kaas-rs/kaas/kaas-storage/clusterdir"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

func TestSecondProcessTakesOverAndTheFirstLearnsOfIt(t *testing.T) {
	onEachFS(t, func(t *testing.T, fs vfs.FS) {
		first, second := open(t, fs, clusterdir.Options{}), open(t, fs, clusterdir.Options{})
		if err := first.CheckClaim(); !errors.Is(err, clusterdir.ErrNotClaimed) {
			t.Fatalf("check without a claim: %v", err)
		}
		before, err := first.Claim(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := first.CheckClaim(); err != nil {
			t.Fatalf("a claim just made: %v", err)
		}
		after, err := second.Claim(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if after <= before {
			t.Fatalf("epoch %d follows %d", after, before)
		}
		if err := first.CheckClaim(); !errors.Is(err, clusterdir.ErrFenced) {
			t.Fatalf("the first process sees %v", err)
		}
		if err := second.CheckClaim(); err != nil {
			t.Fatalf("the second process sees %v", err)
		}
	})
}

func TestClaimOutlivesItsProcess(t *testing.T) {
	fs := vfs.NewMem(0)
	first := open(t, fs, clusterdir.Options{})
	before, err := first.Claim(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := first.CheckClaim(); !errors.Is(err, clusterdir.ErrNotClaimed) {
		t.Fatalf("check after close: %v", err)
	}
	after, err := open(t, fs, clusterdir.Options{}).Claim(t.Context())
	if err != nil || after <= before {
		t.Fatalf("epoch %d follows %d, error %v", after, before, err)
	}
	if claims := claimNames(t, fs); len(claims) != 1 {
		t.Fatalf("claims left: %v", claims)
	}
}

func TestClaimIgnoresNamesOfOthers(t *testing.T) {
	fs := vfs.NewMem(0)
	for _, name := range []string{"leader.ffffffff", "leader.1", "leader.0000000G", "lost+found", ".snapshot"} {
		if err := fs.MkdirAll(name); err != nil {
			t.Fatal(err)
		}
	}
	epoch, err := open(t, fs, clusterdir.Options{}).Claim(t.Context())
	if err != nil || epoch != 0 {
		t.Fatalf("epoch %d, error %v", epoch, err)
	}
}

func TestOneOfManyTakersStays(t *testing.T) {
	onEachFS(t, func(t *testing.T, fs vfs.FS) {
		const takers = 8
		var group sync.WaitGroup
		var dirs []*clusterdir.Dir
		for range takers {
			dirs = append(dirs, open(t, fs, clusterdir.Options{}))
		}
		for _, d := range dirs {
			group.Go(func() {
				if _, err := d.Claim(t.Context()); err != nil && !errors.Is(err, clusterdir.ErrFenced) {
					t.Error(err)
				}
			})
		}
		group.Wait()
		standing := 0
		for _, d := range dirs {
			if d.CheckClaim() == nil {
				standing++
			}
		}
		if claims := claimNames(t, fs); standing != 1 || len(claims) != 1 {
			t.Fatalf("%d takers stand, claims %v", standing, claims)
		}
	})
}

func TestWatchReportsBeingFenced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fs := vfs.NewMem(0)
		first, second := open(t, fs, clusterdir.Options{}), open(t, fs, clusterdir.Options{})
		if err := first.Watch(t.Context()); !errors.Is(err, clusterdir.ErrNotClaimed) {
			t.Fatalf("watch without a claim: %v", err)
		}
		if _, err := first.Claim(t.Context()); err != nil {
			t.Fatal(err)
		}
		started := time.Now()
		result := make(chan error, 1)
		go func() { result <- first.Watch(t.Context()) }()
		time.Sleep(10*time.Second + time.Millisecond)
		if _, err := second.Claim(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := <-result; !errors.Is(err, clusterdir.ErrFenced) {
			t.Fatalf("watch ended with %v", err)
		}
		if waited := time.Since(started); waited > 11*time.Second {
			t.Fatalf("noticed after %v", waited)
		}
	})
}

func TestWatchEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, vfs.NewMem(0), clusterdir.Options{})
		if _, err := d.Claim(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if err := d.Watch(ctx); err != nil {
			t.Fatal(err)
		}
	})
}

func claimNames(t *testing.T, fs vfs.FS) []string {
	t.Helper()
	return slices.DeleteFunc(names(t, fs, "."), func(name string) bool { return !strings.HasPrefix(name, "leader.") })
}
