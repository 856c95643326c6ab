package exactlyonce

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const (
	input  = "input"
	output = "output"
	group  = "copiers"
)

// patience is how long a client waits for one thing before it gives up its process.
const patience = 60 * time.Second

// underWay is more than the broker needs for requests that have reached it when all clients are gone: records on a slow disk become visible half a second later.
const underWay = time.Second

// verdict is the part of a test that takes complaints.
type verdict interface {
	Error(arguments ...any)
	Errorf(format string, arguments ...any)
	Fatal(arguments ...any)
	Fatalf(format string, arguments ...any)
	Failed() bool
	Log(arguments ...any)
}

// run is producers, a group that copies, and observers, in one world.
type run struct {
	t            verdict
	name         string // begins every complaint
	world        world
	seed         uint64
	pace         int // bound of the pauses between two steps, in milliseconds
	transactions int // of each producer
	ledger       *ledger
	offsets      *offsets
	producers    []*producer
	transformers []*transformer
	observers    []*observer
	background   sync.WaitGroup
	healed       atomic.Bool

	mu    sync.Mutex
	notes []string
	began time.Time
}

func newRun(t verdict, name string, w world, seed uint64, transactions int) *run {
	r := &run{
		t: t, name: name, world: w, seed: seed, pace: 200, transactions: transactions, ledger: newLedger(), offsets: newOffsets(t, name), began: time.Now(),
	}
	for n := range 3 {
		r.producers = append(r.producers, &producer{run: r, number: n, random: rand.New(rand.NewPCG(seed, 100+uint64(n)))})
	}
	for n := range 2 {
		r.transformers = append(r.transformers, &transformer{run: r, number: n, random: rand.New(rand.NewPCG(seed, 200+uint64(n)))})
	}
	return r
}

// note remembers what happened, for a run that fails.
func (r *run) note(format string, arguments ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notes = append(r.notes, fmt.Sprintf("%8.3f ", time.Since(r.began).Seconds())+fmt.Sprintf(format, arguments...))
}

// failed takes in why a client gave up. No fault lasts as long as its patience.
func (r *run) failed(who string, number int, err error) {
	r.note("%s %d: %v", who, number, err)
	if errors.Is(err, context.DeadlineExceeded) {
		r.t.Errorf("%s%s %d hangs: %v", r.name, who, number, err)
	}
}

// play lets everything happen and judges what came out of it.
func (r *run) play() {
	for _, topic := range []string{input, output} {
		r.world.createTopic(topic, partitions)
	}
	observing, endObserving := context.WithCancel(context.Background())
	var watching sync.WaitGroup
	for _, topic := range []string{input, output} {
		o := newObserver(r, topic)
		r.observers = append(r.observers, o)
		watching.Go(func() { o.watch(observing) })
	}
	watching.Go(func() { r.offsets.watch(observing, r.world) })

	copying, endCopying := context.WithCancel(context.Background())
	disturbing, endDisturbing := context.WithCancel(context.Background())
	var producers, others, disturber sync.WaitGroup
	for _, p := range r.producers {
		producers.Go(func() { p.produce(r.transactions) })
	}
	for _, m := range r.transformers {
		others.Go(func() { m.transform(copying) })
	}
	disturber.Go(func() { r.disturb(disturbing) })
	producers.Wait()
	endDisturbing()
	disturber.Wait()
	r.healed.Store(true)
	r.world.heal()
	time.Sleep(underWay)
	r.note("quiet")
	j := newJudge(r)
	j.settles(input)
	j.copied()
	endCopying()
	others.Wait()
	j.settles(output)
	j.caughtUp()
	endObserving()
	watching.Wait()
	j.judge()
	j.close()
	r.background.Wait()
	r.report()
}

func (r *run) report() {
	if !r.t.Failed() && os.Getenv("KAAS_VERBOSE") == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, note := range r.notes {
		r.t.Log(note)
	}
}

// disturb does bad things to the broker and to clients until the context ends.
func (r *run) disturb(ctx context.Context) {
	random := rand.New(rand.NewPCG(r.seed, 300))
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Duration(random.IntN(10*r.pace)) * time.Millisecond):
		}
		if random.IntN(3) > 0 {
			r.note("broker: %s", r.world.disturb(random))
			continue
		}
		r.disturbClient(random)
	}
}

func (r *run) disturbClient(random *rand.Rand) {
	var insides []*client
	for _, p := range r.producers {
		insides = append(insides, p.inside.Load())
	}
	for _, m := range r.transformers {
		insides = append(insides, m.inside.Load())
	}
	n := random.IntN(len(insides))
	frozen := time.Duration(random.Int64N(int64(2 * transactionTimeout)))
	crash := random.IntN(2) == 0
	switch {
	case insides[n] == nil:
	case crash:
		r.note("client %d: crash", n)
		insides[n].crash()
	default:
		r.note("client %d: frozen for %v", n, frozen)
		insides[n].freeze(frozen)
	}
}
