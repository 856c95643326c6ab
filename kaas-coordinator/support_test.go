package coordinator_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kaas-rs/kaas/kaas-coordinator"
	"github.com/kaas-rs/kaas/kaas-coordinator/group"
	"github.com/kaas-rs/kaas/kaas-coordinator/offset"
	"github.com/kaas-rs/kaas/kaas-coordinator/slot"
	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// process is a coordinator with an engine of its own over a file system that may outlive it.
type process struct {
	*coordinator.Coordinator
	t      testing.TB
	fs     vfs.FS
	volume *storage.Volume
	engine *storage.Engine
	only   map[int]bool // slots that it takes

	acquired func() // called with each partition that was taken

	mu    sync.Mutex
	taken map[int]*storage.Partition

	stop func()
}

// prepare makes the coordinator directory.
func prepare(t testing.TB, filesystem vfs.FS) {
	t.Helper()
	must(t, filesystem.MkdirAll("__coordinator"))
	dir, err := filesystem.OpenDir("__coordinator")
	must(t, err)
	_, err = slot.EnsureSlots(dir, slot.DefaultCount, 0)
	must(t, err)
	must(t, dir.Close())
}

// prepared is a file system in memory with the coordinator directory.
func prepared(t testing.TB) *vfs.Mem {
	t.Helper()
	filesystem := vfs.NewMem(64 << 20)
	prepare(t, filesystem)
	return filesystem
}

// begin starts a coordinator of the slots of these ids. Stop it with stop, or let the test.
func begin(t testing.TB, filesystem vfs.FS, o coordinator.Options, ids ...string) *process {
	t.Helper()
	return beginOn(t, filesystem, nil, o, ids...)
}

// beginOn is begin on a volume, which knows when it is full.
func beginOn(t testing.TB, filesystem vfs.FS, v *storage.Volume, o coordinator.Options, ids ...string) *process {
	t.Helper()
	return beginWith(t, filesystem, v, o, nil, ids...)
}

// beginWith is beginOn with something to be called with each partition that was taken.
func beginWith(t testing.TB, filesystem vfs.FS, v *storage.Volume, o coordinator.Options, acquired func(), ids ...string) *process {
	t.Helper()
	engine, err := storage.NewEngine(storage.Options{})
	must(t, err)
	p := &process{t: t, fs: filesystem, volume: v, engine: engine, only: map[int]bool{}, taken: map[int]*storage.Partition{}, acquired: acquired}
	for _, id := range ids {
		p.only[slot.Of(id, slot.DefaultCount)] = true
	}
	o.Source = p
	p.Coordinator = coordinator.New(o)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := p.Run(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("run ended with %v", err)
		}
	}()
	p.stop = sync.OnceFunc(func() {
		cancel()
		<-done
		must(t, engine.Close())
	})
	t.Cleanup(func() { p.stop() })
	return p
}

// start is begin, and waits until the slots are served. It needs a synctest bubble.
func start(t testing.TB, filesystem vfs.FS, o coordinator.Options, ids ...string) *process {
	t.Helper()
	p := begin(t, filesystem, o, ids...)
	synctest.Wait()
	for _, id := range ids {
		must(t, p.Status(id))
	}
	return p
}

// Acquire implements coordinator.Source.
func (p *process) Acquire(ctx context.Context, number int) (*storage.Partition, error) {
	if p.only[number] {
		p.mu.Lock()
		_, again := p.taken[number]
		p.mu.Unlock()
		// A slot that was lost is not fought for.
		if !again {
			return p.take(ctx, number)
		}
	}
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

func (p *process) take(ctx context.Context, number int) (*storage.Partition, error) {
	dir, err := p.fs.OpenDir("__coordinator/" + slot.DirName(number))
	if err != nil {
		return nil, err
	}
	taken, err := p.engine.Take(ctx, dir, storage.TakeOptions{
		Label: "__coordinator-" + strconv.Itoa(number), Volume: p.volume, Config: slot.Config(),
	})
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	p.taken[number] = taken
	p.mu.Unlock()
	if p.acquired != nil {
		p.acquired()
	}
	return taken, nil
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wants(t testing.TB, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
}

func at(topic string, partition int32) offset.Partition {
	return offset.Partition{Topic: topic, Partition: partition}
}

// nobody is who commits without being a member.
func nobody() group.Identity { return group.Identity{Generation: -1} }

func commitOf(topic string, partition int32, position int64) coordinator.CommitOffset {
	return coordinator.CommitOffset{Partition: at(topic, partition), Offset: position, LeaderEpoch: -1, CommitTime: -1}
}

// commit commits one offset as nobody in particular, for good.
func (p *process) commit(id string, o coordinator.CommitOffset) error {
	return p.commitAs(id, nobody(), o)
}

// commitAs commits one offset as a member.
func (p *process) commitAs(id string, who group.Identity, o coordinator.CommitOffset) error {
	results, err := p.Commit(context.Background(), id, coordinator.CommitRequest{
		Identity: who, Offsets: []coordinator.CommitOffset{o}, Retention: -1,
	})
	if err != nil {
		return err
	}
	return results[0]
}

// fetch returns the offset of one partition.
func (p *process) fetch(id string, of offset.Partition) coordinator.FetchedOffset {
	p.t.Helper()
	fetched, err := p.Fetch(context.Background(), id, coordinator.FetchRequest{Partitions: []offset.Partition{of}})
	must(p.t, err)
	return fetched[0]
}

// joining is a join of a consumer, as of before v4: without asking for an id first.
func joining(instance string) group.JoinRequest {
	r := group.JoinRequest{
		ClientID: "client", ClientHost: "/127.0.0.1", SessionTimeout: 10 * time.Second, RebalanceTimeout: 30 * time.Second,
		ProtocolType: "consumer", Protocols: []group.Protocol{{Name: "range", Metadata: subscription("t")}},
	}
	if instance != "" {
		r.InstanceID = &instance
	}
	return r
}

// subscription is the metadata of a consumer, version 0.
func subscription(topics ...string) []byte {
	b := []byte{0, 0, 0, 0, 0, byte(len(topics))}
	for _, topic := range topics {
		b = append(append(b, 0, byte(len(topic))), topic...)
	}
	return append(b, 255, 255, 255, 255)
}

// lone makes a stable group of one member and returns it. It takes the initial delay.
func (p *process) lone(id, instance string) group.Identity {
	p.t.Helper()
	return p.loneWith(id, joining(instance))
}

func (p *process) loneWith(id string, r group.JoinRequest) group.Identity {
	p.t.Helper()
	joined, err := p.Join(context.Background(), id, r)
	must(p.t, err)
	member := group.Identity{MemberID: joined.MemberID, InstanceID: r.InstanceID, Generation: joined.Generation}
	_, err = p.Sync(context.Background(), id, group.SyncRequest{
		Identity: member, Assignments: []group.Assignment{{MemberID: member.MemberID, Data: []byte("all")}},
	})
	must(p.t, err)
	return member
}

// fuse fails every call to a file system from the nth on.
type fuse struct {
	calls atomic.Int64
	at    int64
	err   error
}

func newFuse(at int64, err error) *fuse { return &fuse{at: at, err: err} }

func (f *fuse) hook(op vfs.Op) error {
	if !op.After && f.calls.Add(1) >= f.at {
		return f.err
	}
	return nil
}

func (f *fuse) blown() bool { return f.calls.Load() >= f.at }
