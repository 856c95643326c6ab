package clients

import (
	"math/rand/v2"
	"os"
	"strings"
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
		w := newWordCount(t, broker, "exactly_once_v2")
		w.survive(w, w.random)
	})
	t.Run("windowed join", func(t *testing.T) {
		w := newWindowedJoin(t, broker, "exactly_once_v2")
		seed := uint64(time.Now().UnixNano())
		t.Logf("seed %d", seed)
		w.survive(w, rand.New(rand.NewPCG(seed, 0)))
	})
}

// survive deals one blow after the other while there is input to work on.
func (s *streams) survive(app exactlyOnce, random *rand.Rand) {
	s.t.Helper()
	s.start()
	for round := range harness.Rounds(3, 30) {
		app.write(150)
		time.Sleep(time.Duration(random.IntN(300)) * time.Millisecond)
		switch round % 4 {
		case 0:
			s.process.Kill()
		case 1:
			s.broker.Kill(s.t)
			s.broker.Resume(s.t)
			continue
		case 2:
			s.process.Kill()
			s.broker.Kill(s.t)
			s.broker.Resume(s.t)
		case 3:
			// Without its directory an application has other transactional ids: what it had begun is aborted when its time is over.
			s.process.Kill()
			s.forget()
		}
		app.write(50)
		s.start()
	}
	app.write(100)
	app.judge()
	s.stop()
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
