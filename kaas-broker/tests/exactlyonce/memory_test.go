package exactlyonce

import (
	"context"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// memory is a world in which everything is simulated: the disk, the network, and time by the bubble that it lives in.
type memory struct {
	t         verdict
	seed      uint64
	mistake   mistake
	processes sync.WaitGroup

	mu     sync.Mutex
	random *rand.Rand
	disk   *vfs.Crash
	nodes  []*node // the last one leads
	slow   time.Duration
	faulty bool
}

func newMemory(t verdict, seed uint64, m mistake) *memory {
	w := &memory{t: t, seed: seed, mistake: m, random: rand.New(rand.NewPCG(seed, 1)), disk: vfs.NewCrash(256 << 20), faulty: true}
	w.start()
	return w
}

func (w *memory) start() {
	n, err := startNode(w, w.disk)
	if err != nil {
		w.t.Fatalf("seed %d: start: %v", w.seed, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.nodes = append(w.nodes, n)
}

func (w *memory) leader() *node {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.nodes[len(w.nodes)-1]
}

func (w *memory) below(d time.Duration) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Duration(w.random.Int64N(int64(d)))
}

// syncTime is how long a sync of a file takes.
func (w *memory) syncTime() time.Duration {
	w.mu.Lock()
	slow := w.slow
	w.mu.Unlock()
	if slow > 0 {
		return w.below(slow)
	}
	return time.Millisecond + w.below(2*time.Millisecond)
}

// road is what becomes of a marker on its way.
func (w *memory) road() (late time.Duration, lost bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.faulty {
		return 0, false
	}
	switch w.random.IntN(8) {
	case 0:
		return 0, true
	case 1:
		return time.Duration(w.random.Int64N(int64(12 * time.Second))), false
	}
	return 0, false
}

func (w *memory) setSlow(slow time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.slow = slow
}

func (w *memory) bootstrap() string { return "kaas:9092" }

func (w *memory) dial(ctx context.Context) (net.Conn, error) { return w.leader().connect(ctx) }

func (w *memory) createTopic(name string, partitions int32) {
	if err := w.leader().broker.CreateTopic(context.Background(), name, partitions, nil); err != nil {
		w.t.Fatalf("seed %d: %v", w.seed, err)
	}
}

// disturb does one bad thing to the broker and says what.
func (w *memory) disturb(random *rand.Rand) string {
	old := w.leader()
	pause := func(d time.Duration) { time.Sleep(time.Duration(random.Int64N(int64(d)))) }
	switch random.IntN(6) {
	case 0:
		old.kill()
		pause(time.Second)
		w.start()
		return "kill"
	case 1:
		// On a slow disk there is more that is not yet durable.
		w.setSlow(500 * time.Millisecond)
		pause(2 * time.Second)
		old.kill()
		w.setSlow(0)
		w.mu.Lock()
		w.disk = w.disk.PowerCut(vfs.SurviveSeeded(random.Uint64()))
		w.mu.Unlock()
		pause(time.Second)
		w.start()
		return "power cut"
	case 2:
		old.frozen.shut()
		old.deposed.Store(true)
		pause(3 * time.Second)
		w.start()
		pause(8 * time.Second)
		old.frozen.open()
		return "zombie"
	case 3:
		old.deposed.Store(true)
		w.start()
		return "takeover"
	case 4:
		old.frozen.shut()
		pause(5 * time.Second)
		old.frozen.open()
		return "freeze"
	default:
		w.setSlow(500 * time.Millisecond)
		time.AfterFunc(time.Duration(random.Int64N(int64(8*time.Second))), func() { w.setSlow(0) })
		return "slow disk"
	}
}

// heal ends all faults that may still be under way.
func (w *memory) heal() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.slow, w.faulty = 0, false
}

// end stops everything.
func (w *memory) end() {
	for _, n := range w.nodes {
		n.stop()
	}
	w.processes.Wait()
	for _, n := range w.nodes {
		w.checkOpacity(n)
	}
}

// checkOpacity complains of records that a node looked into, or encoded anew, whether it was killed or not. The coordinator's are the broker's own.
func (w *memory) checkOpacity(n *node) {
	report := n.broker.Report()
	for _, counts := range []map[string]int64{report.RecordDecodes, report.BatchReencodes} {
		for site, count := range counts {
			if site != string(batch.SiteCoordinator) {
				w.t.Errorf("seed %d: the broker looked into %d batches at %s", w.seed, count, site)
			}
		}
	}
}
