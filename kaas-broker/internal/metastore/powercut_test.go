package metastore_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/kaas-rs/kaas/kaas-broker/internal/metastore"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

func TestAcknowledgedChangesSurviveAPowerCut(t *testing.T) {
	base := rand.Uint64()
	t.Logf("seed %d", base)
	crash := vfs.NewCrash(0)
	p := start(t, crash)
	kept := p.create(t, "kept", 2, nil)
	p.create(t, "gone", 1, nil)
	if _, err := p.CreatePartitions(t.Context(), "kept", 3, false); err != nil {
		t.Fatal(err)
	}
	set := func(c map[string]string) error { c["retention.ms"] = "7"; return nil }
	if _, err := p.AlterTopicConfig(t.Context(), "kept", false, set); err != nil {
		t.Fatal(err)
	}
	if err := p.DeleteTopic(t.Context(), "gone"); err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(20) {
		choice := vfs.SurviveSeeded(base + seed)
		if seed == 0 {
			choice = vfs.SurviveNone
		}
		q := start(t, crash.PowerCut(choice))
		topic := q.topic(t, "kept")
		if topic.ID != kept.ID || topic.Partitions != 3 || topic.Overrides["retention.ms"] != "7" {
			t.Fatalf("seed %d: %+v", base+seed, topic)
		}
		for partition := range topic.Partitions {
			q.lead(t, topic, partition)
		}
		q.missing(t, "gone")
	}
}

func TestPowerCutWithinACreation(t *testing.T) {
	base := rand.Uint64()
	t.Logf("seed %d", base)
	for n := 1; ; n++ {
		crash := vfs.NewCrash(0)
		dying := newMortal(crash)
		p := start(t, dying)
		dying.dieAt(n)
		_, err := p.CreateTopic(t.Context(), metastore.NewTopic{Name: "new", Partitions: 2})
		died := dying.left == 0
		dying.left = -1
		for seed, survive := range choices(crash, base) {
			q := start(t, crash.PowerCut(survive))
			topic, ok := q.catalog.Snapshot().ByName("new")
			if !ok {
				topic = q.create(t, "new", 2, nil)
			}
			q.lead(t, topic, 0)
			q.lead(t, topic, 1)
			// A manifest may be there that asks for it and say so; nothing else is in the way.
			for _, problem := range q.Problems() {
				if !strings.Contains(problem.Reason, "missing") {
					t.Fatalf("base %d, choice %d, change %d: %v", base, seed, n, q.Problems())
				}
			}
		}
		if !died {
			if err != nil {
				t.Fatal(err)
			}
			return
		}
	}
}

// choices are what may survive a power cut: nothing, everything, each single change, and some of them.
func choices(crash *vfs.Crash, base uint64) []vfs.Choice {
	list := []vfs.Choice{vfs.SurviveNone, vfs.SurviveAll}
	for i := range crash.Pending() {
		list = append(list, vfs.SurviveOnly(i))
	}
	seeds := uint64(32)
	if testing.Short() {
		seeds = 4
	}
	for seed := range seeds {
		list = append(list, vfs.SurviveSeeded(base+seed))
	}
	return list
}

// A topic whose deletion meets a power cut is there as a whole, or gone and can be made again.
func TestPowerCutWithinADeletion(t *testing.T) {
	base := rand.Uint64()
	t.Logf("seed %d", base)
	for n := 1; ; n++ {
		crash := vfs.NewCrash(0)
		dying := newMortal(crash)
		p := start(t, dying)
		old := p.create(t, "old", 2, map[string]string{"retention.ms": "5"})
		last := p.lead(t, old, 0)
		dying.dieAt(n)
		err := p.DeleteTopic(t.Context(), "old")
		p.Sweep(t.Context())
		died := dying.left == 0
		dying.left = -1
		for choice, survive := range choices(crash, base) {
			q := start(t, crash.PowerCut(survive))
			topic, there := q.catalog.Snapshot().ByName("old")
			if there && err == nil {
				t.Fatalf("base %d, choice %d, change %d: a topic whose deletion was acknowledged is back", base, choice, n)
			}
			if there {
				if topic.ID != old.ID || topic.Partitions != 2 || topic.Overrides["retention.ms"] != "5" {
					t.Fatalf("base %d, choice %d, change %d: %+v", base, choice, n, topic)
				}
				q.lead(t, topic, 0)
				q.lead(t, topic, 1)
				continue
			}
			q.Sweep(t.Context())
			again := q.create(t, "old", 1, nil)
			if epoch := q.lead(t, again, 0); again.ID == old.ID || epoch <= last {
				t.Fatalf("base %d, choice %d, change %d: the namesake %+v begins at epoch %d, the last one was %d", base, choice, n, again, epoch, last)
			}
		}
		if !died {
			if err != nil {
				t.Fatal(err)
			}
			return
		}
	}
}
