package clients

import (
	"context"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

// exactlyOnce is an application whose input and output can be compared.
type exactlyOnce interface {
	write(count int)
	judge()
}

// Applications with exactly_once_v2 are killed in the middle of their transactions, and the broker is killed, with and without them. Their output is what
// a recomputation from the input gives, nothing twice, nothing left out.
func TestStreamsExactlyOnce(t *testing.T) {
	broker := harness.Start(t, harness.Options{Overrides: inTransactions, Decodes: []string{"compact-keys"}})
	t.Run("word count", func(t *testing.T) {
		w := newWordCount(t, broker, exactlyOnceV2()...)
		w.survive(w, w.random)
	})
	t.Run("windowed join", func(t *testing.T) {
		w := newWindowedJoin(t, broker, exactlyOnceV2()...)
		seed := uint64(time.Now().UnixNano())
		t.Logf("seed %d", seed)
		w.survive(w, rand.New(rand.NewPCG(seed, 0)))
	})
}

// One of two instances is frozen until the other one has its partitions, and thaws with a transaction in its hands: nothing of it may count.
func TestStreamsZombie(t *testing.T) {
	harness.Long(t)
	broker := harness.Start(t, harness.Options{Overrides: inTransactions, Decodes: []string{"compact-keys"}})
	w := newWordCount(t, broker, exactlyOnceV2()...)
	instances := []*streams{w.streams, w.twin()}
	for _, instance := range instances {
		instance.start()
	}
	stop := w.feed(w)
	for round := range harness.Rounds(3, 15) {
		frozen := instances[round%2].process
		frozen.Freeze()
		// Its session ends, and in every other round its transaction, too.
		time.Sleep(4*time.Second + time.Duration(round%2)*3*time.Second)
		frozen.Thaw()
		time.Sleep(time.Duration(w.random.IntN(2000)) * time.Millisecond)
	}
	stop()
	w.judge()
	for _, instance := range instances {
		instance.stop()
	}
}

// twin is another instance of the same application.
func (s *streams) twin() *streams {
	other := &streams{t: s.t, broker: s.broker, topic: s.topic, command: s.command, producer: s.producer}
	other.command.Arguments = slices.Clone(s.command.Arguments)
	for i, argument := range other.command.Arguments {
		if strings.HasPrefix(argument, "state.dir=") {
			other.command.Arguments[i] = "state.dir=" + s.t.TempDir()
		}
	}
	return other
}

func exactlyOnceV2() []string {
	return append([]string{"processing.guarantee=exactly_once_v2"}, killable...)
}

// survive deals one blow after the other while the input grows all the time, so that there is always something begun.
func (s *streams) survive(app exactlyOnce, random *rand.Rand) {
	s.t.Helper()
	s.start()
	stop := s.feed(app)
	for round := range harness.Rounds(3, 30) {
		time.Sleep(time.Duration(300+random.IntN(500)) * time.Millisecond)
		switch round % 4 {
		case 0:
			s.process.Kill()
			s.start()
		case 1:
			s.broker.Kill(s.t)
			s.broker.Resume(s.t)
		case 2:
			s.process.Kill()
			s.broker.Kill(s.t)
			s.broker.Resume(s.t)
			s.start()
		case 3:
			// Without its directory an application has other transactional ids: what it had begun is aborted when its time is over.
			s.process.Kill()
			s.forget()
			s.start()
		}
	}
	stop()
	app.judge()
	s.stop()
}

// feed writes input until it is stopped.
func (s *streams) feed(app exactlyOnce) (stop func()) {
	ctx, cancel := context.WithCancel(s.t.Context())
	var feeder sync.WaitGroup
	feeder.Go(func() {
		for ctx.Err() == nil {
			app.write(5)
			time.Sleep(20 * time.Millisecond)
		}
	})
	stop = func() {
		cancel()
		feeder.Wait()
	}
	s.t.Cleanup(stop)
	return stop
}

// forget removes what the application keeps on disk.
func (s *streams) forget() {
	s.t.Helper()
	for _, argument := range s.command.Arguments {
		if folder, is := strings.CutPrefix(argument, "state.dir="); is {
			if err := os.RemoveAll(folder); err != nil {
				s.t.Fatal(err)
			}
		}
	}
}
