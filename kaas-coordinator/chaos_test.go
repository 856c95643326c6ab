package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kaas-rs/kaas/kaas-coordinator"
	"github.com/kaas-rs/kaas/kaas-coordinator/group"
	"github.com/kaas-rs/kaas/kaas-coordinator/offset"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

const (
	chaosProducers    = 3
	chaosTransactions = 8
)

// chaos is a coordinator that is taken over again and again while producers run transactions through whichever process they happen to ask, over file
// systems that freeze and lose power, and a network that loses and delays markers.
type chaos struct {
	t       *testing.T
	seed    uint64
	options coordinator.Options
	parts   *participants
	ids     []string

	mu        sync.Mutex
	random    *rand.Rand
	disk      *vfs.Crash
	processes []*process // the last one leads, or will
	gates     []*gate
}

// TestTransactionsUnderChaos plays seeds. KAAS_SEEDS says how many, KAAS_SEED runs one.
func TestTransactionsUnderChaos(t *testing.T) {
	few := uint64(60)
	if testing.Short() {
		few = 15
	}
	from, to := uint64(0), numberFrom(t, "KAAS_SEEDS", few)
	if only := numberFrom(t, "KAAS_SEED", 0); only > 0 {
		from, to = only, only+1
	}
	for seed := from; seed < to && !t.Failed(); seed++ {
		synctest.Test(t, func(t *testing.T) { runChaos(t, seed) })
	}
}

func numberFrom(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	must(t, err)
	return n
}

func runChaos(t *testing.T, seed uint64) {
	c := &chaos{t: t, seed: seed, disk: vfs.NewCrash(64 << 20), random: rand.New(rand.NewPCG(seed, 7))}
	prepare(t, c.disk)
	c.options, c.parts = transactional()
	c.parts.setBefore(c.network)
	for i := range chaosProducers {
		c.ids = append(c.ids, txnOf(i), groupOf(i))
	}
	c.takeOver()
	var producing, disturbing sync.WaitGroup
	histories := make([]history, chaosProducers)
	for i := range histories {
		producing.Go(func() { histories[i] = c.produce(i) })
	}
	stop := make(chan struct{})
	disturbing.Go(func() { c.disturb(stop) })
	began := time.Now()
	producing.Wait()
	if took := time.Since(began); took > 30*time.Minute {
		t.Errorf("seed %d: took %v", seed, took)
	}
	close(stop)
	disturbing.Wait()
	c.parts.setBefore(nil)
	time.Sleep(3 * time.Minute) // timeouts, retries
	for i, h := range histories {
		c.check(i, h)
	}
	t.Logf("seed %d: %v, %d processes, %d late markers", seed, histories, len(c.processes), c.parts.ignored())
}

func txnOf(i int) string   { return fmt.Sprintf("tx%d", i) }
func groupOf(i int) string { return fmt.Sprintf("group%d", i) }

func firstOf(i, n int) coordinator.TransactionPartition {
	return partitionOf(fmt.Sprintf("first%d", i), int32(n))
}

func secondOf(i, n int) coordinator.TransactionPartition {
	return partitionOf(fmt.Sprintf("second%d", i), int32(n))
}

func (c *chaos) below(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.random.IntN(n)
}

// network loses one in eight markers, and delays one in eight for longer than anybody waits.
func (c *chaos) network(context.Context, coordinator.Marker, coordinator.TransactionPartition) error {
	switch c.below(8) {
	case 0:
		return errUnreachable
	case 1:
		time.Sleep(time.Duration(c.below(40_000)) * time.Millisecond)
	}
	return nil
}

// takeOver starts a process that takes all slots. The one before does not know.
func (c *chaos) takeOver() {
	c.mu.Lock()
	defer c.mu.Unlock()
	frozen := &gate{}
	p := begin(c.t, vfs.NewFault(c.disk, frozen.hook), c.options, c.ids...)
	c.processes, c.gates = append(c.processes, p), append(c.gates, frozen)
}

// cutPower ends every process at once. The next one finds what had been synced, and some of the rest.
func (c *chaos) cutPower() {
	c.mu.Lock()
	for _, g := range c.gates {
		g.cut() // first: nothing is acknowledged from here on
	}
	c.disk = c.disk.PowerCut(vfs.SurviveSeeded(c.random.Uint64()))
	dead := c.processes
	c.mu.Unlock()
	for _, p := range dead {
		p.stop()
	}
	c.takeOver()
}

// disturb takes over, freezes, thaws and cuts the power until it is told to stop.
func (c *chaos) disturb(stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(time.Duration(c.below(8000)) * time.Millisecond):
		}
		c.mu.Lock()
		frozen := c.gates[c.random.IntN(len(c.gates))]
		c.mu.Unlock()
		switch c.below(4) {
		case 0:
			c.takeOver()
		case 1:
			frozen.shut()
			c.takeOver()
			time.Sleep(time.Duration(c.below(20_000)) * time.Millisecond)
			frozen.open()
		case 2:
			frozen.shut()
			time.Sleep(time.Duration(c.below(3000)) * time.Millisecond)
			frozen.open()
		case 3:
			c.cutPower()
		}
	}
}

// anybody is the process that leads, mostly.
func (c *chaos) anybody() *process {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.random.IntN(4) == 0 {
		return c.processes[c.random.IntN(len(c.processes))]
	}
	return c.processes[len(c.processes)-1]
}

// try asks until the answer is final.
func (c *chaos) try(ask func(ctx context.Context, p *process) error) error {
	for {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		err := ask(ctx, c.anybody())
		cancel()
		if !isRetriable(err) {
			return err
		}
		time.Sleep(time.Duration(1+c.below(100)) * time.Millisecond)
	}
}

// history is what became of a producer's transactions: C or A where that was answered, ? where it was asked for, - where it was not.
type history struct {
	ids      []int64 // producer ids it had
	outcomes string
}

func (c *chaos) produce(i int) (h history) {
	var producer coordinator.Producer
	registered := false
	for n := range chaosTransactions {
		if !registered || c.below(8) == 0 {
			producer = c.register(i)
			h.ids = append(h.ids, producer.ID)
		}
		outcome, err := c.transaction(i, n, producer)
		h.outcomes += outcome
		if err != nil && !errors.Is(err, errLeft) && !errors.Is(err, coordinator.ErrProducerFenced) &&
			!errors.Is(err, coordinator.ErrInvalidProducerEpoch) {
			c.t.Errorf("seed %d: transaction %d of %+v: %v", c.seed, n, producer, err)
		}
		registered = err == nil
	}
	return h
}

func (c *chaos) register(i int) (producer coordinator.Producer) {
	must(c.t, c.try(func(ctx context.Context, p *process) (err error) {
		producer, err = p.InitProducerID(ctx, txnOf(i), nobodyYet())
		return err
	}))
	return producer
}

// errLeft: the producer does not end its transaction.
var errLeft = errors.New("left open")

func (c *chaos) transaction(i, n int, producer coordinator.Producer) (string, error) {
	id := txnOf(i)
	adds := [][]coordinator.TransactionPartition{{shared, firstOf(i, n)}, {secondOf(i, n)}}
	for _, add := range adds {
		err := c.try(func(ctx context.Context, p *process) error { return p.AddPartitions(ctx, id, producer, add) })
		if err != nil {
			return "-", err
		}
		if c.below(20) == 0 {
			return "-", errLeft
		}
	}
	err := c.try(func(ctx context.Context, p *process) error { return p.AddOffsets(ctx, id, producer, groupOf(i)) })
	if err != nil {
		return "-", err
	}
	err = c.try(func(ctx context.Context, p *process) error {
		results, err := p.StageOffsets(ctx, groupOf(i), coordinator.StageRequest{
			TransactionalID: id, Producer: producer, Identity: nobody(), Offsets: []coordinator.CommitOffset{commitOf("in", 0, int64(n))},
		})
		if err == nil {
			err = results[0]
		}
		return err
	})
	if err != nil {
		return "-", err
	}
	if c.below(10) == 0 {
		time.Sleep(80 * time.Second) // it times out
	}
	commit := c.below(3) > 0
	if err := c.end(id, producer, commit); err != nil {
		return "?", err
	}
	return map[bool]string{true: "C", false: "A"}[commit], nil
}

// end repeats the decision until it is answered. A repetition that meets the markers on their way waits for them.
func (c *chaos) end(id string, producer coordinator.Producer, commit bool) error {
	return c.try(func(ctx context.Context, p *process) error { return p.EndTransaction(ctx, id, producer, commit) })
}

// isRetriable reports whether a client tries again. The end of its own patience is one reason.
func isRetriable(err error) bool {
	return errors.Is(err, coordinator.ErrNotCoordinator) || errors.Is(err, coordinator.ErrLoading) ||
		errors.Is(err, coordinator.ErrConcurrentTransactions) || errors.Is(err, group.ErrNotAvailable) || errors.Is(err, context.DeadlineExceeded)
}

// check looks at one producer's transactions when all is quiet: each ended in the same way everywhere, and as it was told.
func (c *chaos) check(i int, h history) {
	var all string
	last := int64(-1)
	for n, told := range h.outcomes {
		first, second := c.parts.outcomes(firstOf(i, n)), c.parts.outcomes(secondOf(i, n))
		switch {
		case len(first) > 1 || (first != second && (second != "" || told != '-')):
			c.t.Errorf("seed %d: transaction %d of %d ended as %q and %q", c.seed, n, i, first, second)
		case strings.ContainsRune("CA", told) && first != string(told), told == '-' && first == "C", told == '?' && first == "":
			c.t.Errorf("seed %d: transaction %d of %d ended as %q, told was %c", c.seed, n, i, first, told)
		}
		if first == "C" {
			last = int64(n)
		}
		all += first
	}
	var inShared string
	for _, m := range c.parts.at(shared) {
		if m.TransactionalID == txnOf(i) {
			inShared += map[bool]string{true: "C", false: "A"}[m.Commit]
		}
	}
	if inShared != all {
		c.t.Errorf("seed %d: producer %d ended %q, in the shared partition %q", c.seed, i, all, inShared)
	}
	var fetched []coordinator.FetchedOffset
	must(c.t, c.try(func(ctx context.Context, p *process) (err error) {
		fetched, err = p.Fetch(ctx, groupOf(i), coordinator.FetchRequest{RequireStable: true, Partitions: []offset.Partition{at("in", 0)}})
		return err
	}))
	if fetched[0].Err != nil || fetched[0].Offset != last {
		c.t.Errorf("seed %d: group %d is at %+v, want %d", c.seed, i, fetched[0], last)
	}
}
