package metastore_test

import (
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/uuid"

	"github.com/kaas-rs/kaas/kaas-broker/internal/metastore"
	storage "github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

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
		for how, mode := range failureModes() {
			t.Run(name+" "+how, func(t *testing.T) {
				for n, failed := 1, true; failed; n++ {
					fault := &failure{n: n, failureMode: mode}
					memory := vfs.NewMem(0)
					p := start(t, vfs.NewFault(memory, fault.hook))
					p.create(t, "old", 2, map[string]string{"retention.ms": "5"})
					fault.armed = true
					err := operation.do(t, p)
					fault.armed = false
					failed = fault.calls >= n
					if err != nil {
						if !errors.Is(err, mode.err) {
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
}

// failureMode is what a file call does wrong.
type failureMode struct {
	after bool // it has happened, and reports an error all the same
	err   error
}

func failureModes() map[string]failureMode {
	return map[string]failureMode{
		"fails":                         {false, syscall.EIO},
		"reports a failure":             {true, syscall.EIO},
		"finds the disk full":           {false, syscall.ENOSPC},
		"is cut short by the full disk": {false, vfs.ErrShortWrite{N: 20, Err: syscall.ENOSPC}},
	}
}

// failure fails the nth call that is made while it is armed. It leaves the checks of the cluster directory's claim out: who does not know whether it
// is fenced takes nothing back.
type failure struct {
	failureMode
	armed bool
	calls int
	n     int
}

func (f *failure) hook(op vfs.Op) error {
	if !f.armed || op.After != f.after || op.Kind == vfs.OpCheck {
		return nil
	}
	if f.calls++; f.calls == f.n {
		return f.err
	}
	return nil
}
