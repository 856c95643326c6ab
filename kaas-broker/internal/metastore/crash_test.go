package metastore_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/kaas-rs/kaas/kaas-broker/internal/metastore"
	storage "github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

func contextWithCancel(t *testing.T) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	return ctx, cancel
}

// A process dies at each change of an operation in turn; the next one must find a whole topic or none, and be able to go on.
func TestOperationsAreFinishedAfterACrashAtAnyStep(t *testing.T) {
	type world struct {
		id    uuid.UUID
		epoch storage.Epoch
	}
	operations := map[string]struct {
		do func(t *testing.T, p *process) error
		// check judges what the next process finds; answered says whether the operation had returned without an error.
		check   func(t *testing.T, p *process, w world, answered bool)
		atLeast int
	}{
		"create": {
			do: func(t *testing.T, p *process) error {
				_, err := p.CreateTopic(t.Context(), metastore.NewTopic{Name: "new", Partitions: 2, Config: map[string]string{"retention.ms": "5"}})
				return err
			},
			check: func(t *testing.T, p *process, _ world, answered bool) {
				topic, ok := p.catalog.Snapshot().ByName("new")
				if answered && !ok {
					t.Fatal("an acknowledged topic is gone")
				}
				if !ok {
					topic = p.create(t, "new", 2, map[string]string{"retention.ms": "5"})
				}
				if topic.Partitions != 2 || topic.Overrides["retention.ms"] != "5" {
					t.Fatalf("%+v", topic)
				}
				p.lead(t, topic, 0)
				p.lead(t, topic, 1)
			},
			atLeast: 20,
		},
		"grow": {
			do: func(t *testing.T, p *process) error {
				_, err := p.CreatePartitions(t.Context(), "old", 4, false)
				return err
			},
			check: func(t *testing.T, p *process, w world, answered bool) {
				topic := p.topic(t, "old")
				if topic.ID != w.id || topic.Partitions != 2 && topic.Partitions != 4 || answered && topic.Partitions != 4 {
					t.Fatalf("%+v", topic)
				}
				for partition := range topic.Partitions {
					if epoch := p.lead(t, topic, partition); partition == 0 && epoch <= w.epoch {
						t.Fatalf("epoch %d after %d", epoch, w.epoch)
					}
				}
			},
			atLeast: 15,
		},
		"alter": {
			do: func(t *testing.T, p *process) error {
				_, err := p.AlterTopicConfig(t.Context(), "old", false, func(c map[string]string) error { c["retention.ms"] = "6"; return nil })
				return err
			},
			check: func(t *testing.T, p *process, w world, answered bool) {
				topic := p.topic(t, "old")
				if value := topic.Overrides["retention.ms"]; topic.ID != w.id || value != "5" && value != "6" || answered && value != "6" {
					t.Fatalf("%+v", topic)
				}
			},
			atLeast: 8,
		},
		"delete": {
			do: func(t *testing.T, p *process) error {
				err := p.DeleteTopic(t.Context(), "old")
				p.Sweep(t.Context())
				return err
			},
			check: func(t *testing.T, p *process, w world, answered bool) {
				topic, ok := p.catalog.Snapshot().ByName("old")
				if ok && answered {
					t.Fatal("a topic whose deletion was acknowledged is back")
				}
				if ok {
					if topic.ID != w.id || topic.Partitions != 2 || topic.Overrides["retention.ms"] != "5" {
						t.Fatalf("%+v", topic)
					}
					p.lead(t, topic, 1)
					return
				}
				p.Sweep(t.Context())
				if slices.Contains(names(t, p.fs, "."), "old") {
					t.Fatal("directories are left")
				}
				again := p.create(t, "old", 1, nil)
				if epoch := p.lead(t, again, 0); again.ID == w.id || epoch <= w.epoch {
					t.Fatalf("the namesake %+v begins at epoch %d, the last one was %d", again, epoch, w.epoch)
				}
			},
			atLeast: 20,
		},
	}
	for name, operation := range operations {
		t.Run(name, func(t *testing.T) {
			for n := 1; ; n++ {
				memory := vfs.NewMem(0)
				dying := newMortal(memory)
				p := start(t, dying)
				old := p.create(t, "old", 2, map[string]string{"retention.ms": "5"})
				w := world{id: old.ID, epoch: p.lead(t, old, 0)}
				dying.dieAt(n)
				err := operation.do(t, p)
				died := dying.left == 0
				dying.left = -1 // handles are closed by another owner
				next := start(t, memory)
				for _, place := range []string{"topics", "topic_state", "topic_deletions"} {
					for _, left := range names(t, memory, clusterPath+"/"+place) {
						if strings.HasSuffix(left, ".tmp") {
							t.Fatalf("crash at change %d leaves %s/%s", n, place, left)
						}
					}
				}
				operation.check(t, next, w, err == nil)
				if len(next.Problems()) > 0 {
					t.Fatalf("crash at change %d leaves problems: %v", n, next.Problems())
				}
				if !died {
					if err != nil || n < operation.atLeast {
						t.Fatalf("the operation ended after %d changes with %v", n, err)
					}
					return
				}
			}
		})
	}
}

// One operation on a file fails, and the process goes on: a client that saw an error finds nothing changed, and a retry works.
func TestFailedOperationsAreTakenBack(t *testing.T) {
	operations := map[string]struct {
		do   func(t *testing.T, p *process) error
		kept func(t *testing.T, p *process)
		done func(t *testing.T, p *process)
	}{
		"create": {
			do: func(t *testing.T, p *process) error {
				_, err := p.CreateTopic(t.Context(), metastore.NewTopic{Name: "new", Partitions: 2})
				return err
			},
			kept: func(t *testing.T, p *process) { p.missing(t, "new") },
			done: func(t *testing.T, p *process) { p.lead(t, p.topic(t, "new"), 1) },
		},
		"grow": {
			do: func(t *testing.T, p *process) error {
				_, err := p.CreatePartitions(t.Context(), "old", 3, false)
				return err
			},
			kept: func(t *testing.T, p *process) {
				if got := p.topic(t, "old").Partitions; got != 2 {
					t.Fatalf("%d partitions", got)
				}
			},
			done: func(t *testing.T, p *process) { p.lead(t, p.topic(t, "old"), 2) },
		},
		"alter": {
			do: func(t *testing.T, p *process) error {
				_, err := p.AlterTopicConfig(t.Context(), "old", false, func(c map[string]string) error { c["retention.ms"] = "6"; return nil })
				return err
			},
			kept: func(t *testing.T, p *process) {
				if got := p.topic(t, "old").Overrides["retention.ms"]; got != "5" {
					t.Fatalf("retention %s", got)
				}
			},
			done: func(t *testing.T, p *process) {
				if got := p.topic(t, "old").Overrides["retention.ms"]; got != "6" {
					t.Fatalf("retention %s", got)
				}
			},
		},
		"delete": {
			do:   func(t *testing.T, p *process) error { return p.DeleteTopic(t.Context(), "old") },
			kept: func(t *testing.T, p *process) { p.lead(t, p.topic(t, "old"), 1) },
			done: func(t *testing.T, p *process) { p.missing(t, "old") },
		},
	}
	for name, operation := range operations {
		t.Run(name, func(t *testing.T) {
			for n, failed := 1, true; failed; n++ {
				broken := errors.New("input/output error")
				fault, fired := failOnce(n, broken)
				memory := vfs.NewMem(0)
				p := start(t, vfs.NewFault(memory, fault.hook))
				p.create(t, "old", 2, map[string]string{"retention.ms": "5"})
				fault.armed = true
				err := operation.do(t, p)
				fault.armed = false
				failed = fired()
				if err != nil {
					if !errors.Is(err, broken) {
						t.Fatal(err)
					}
					operation.kept(t, p)
					p.reload(t)
					operation.kept(t, p)
					p.Sweep(t.Context())
					if err := operation.do(t, p); err != nil {
						t.Fatalf("the retry after failure %d: %v", n, err)
					}
				}
				operation.done(t, p)
				operation.done(t, start(t, memory))
			}
		})
	}
}

// failure fails the nth change that is made while it is armed.
type failure struct {
	armed   bool
	changes int
	n       int
	err     error
}

func failOnce(n int, err error) (f *failure, fired func() bool) {
	f = &failure{n: n, err: err}
	return f, func() bool { return f.changes >= n }
}

func (f *failure) hook(op vfs.Op) error {
	if !f.armed || op.After || !op.Kind.Mutating() {
		return nil
	}
	if f.changes++; f.changes == f.n {
		return f.err
	}
	return nil
}

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
	for seed := range uint64(8) {
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
