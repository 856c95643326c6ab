package storage_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// turnstile lets one file call through at a time, in an order that a seed chooses.
type turnstile struct {
	mu      sync.Mutex
	waiting []chan struct{}
	open    bool
}

func (s *turnstile) pass() {
	s.mu.Lock()
	if s.open {
		s.mu.Unlock()
		return
	}
	turn := make(chan struct{})
	s.waiting = append(s.waiting, turn)
	s.mu.Unlock()
	<-turn
}

// next lets one of the waiting calls through.
func (s *turnstile) next(random *rand.Rand) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) == 0 {
		return false
	}
	i := random.IntN(len(s.waiting))
	close(s.waiting[i])
	s.waiting = slices.Delete(s.waiting, i, i+1)
	return true
}

func (s *turnstile) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = true
	for _, turn := range s.waiting {
		close(turn)
	}
	s.waiting = nil
}

// contest is several owners on one disk, each through a view of its own whose calls wait for their turn.
type contest struct {
	t         *testing.T
	seed      uint64
	disk      *vfs.Crash
	turnstile turnstile
	ledger    *ledger
	config    storage.Config
	running   atomic.Int32
	commands  int
	engines   []*storage.Engine
	turn      int64

	mu         sync.Mutex
	seen       map[int64]string // what any reader has seen at an offset
	decided    map[int64]bool   // whether any reader of committed records has been told that the offset is aborted
	violations []error
}

func (c *contest) view() vfs.FS {
	return vfs.NewFault(c.disk, func(op vfs.Op) error {
		switch op.Kind {
		case vfs.OpCloseClaim, vfs.OpCloseDir, vfs.OpCloseFile, vfs.OpSize, vfs.OpReadAt, vfs.OpStat:
		default:
			if !op.After {
				c.turnstile.pass()
			}
		}
		return nil
	})
}

func (c *contest) violate(err error) {
	if err == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.violations = append(c.violations, err)
}

// read is a consumer of an owner: nobody may see two different records at one offset.
func (c *contest) read(p *storage.Partition) {
	if c.ledger.gone != nil {
		c.readGapped(p)
		return
	}
	start := p.Offsets().LogStart
	stable := p.Offsets().LastStable
	aborted, abortedErr := p.AbortedIn(start, stable)
	found, err := readLog(p)
	if err != nil || abortedErr != nil || p.Offsets().LogStart != start {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.compareDecisions(start, found[:max(stable-start, 0)], aborted)
	for i, r := range found {
		offset := start + int64(i)
		if old, known := c.seen[offset]; known && old != r.value {
			c.violations = append(c.violations, fmt.Errorf("offset %d was seen to hold %s, now %s", offset, old, r.value))
		}
		c.seen[offset] = r.value
	}
}

// lead takes over and serves until it has done enough or is fenced.
func (c *contest) lead(engine *storage.Engine, name string, filesystem vfs.FS, random *rand.Rand) {
	defer c.running.Add(-1)
	for range 2 {
		p, err := takeFrom(engine, filesystem, c.config)
		if err != nil {
			continue
		}
		for step := range 6 {
			if err := c.serve(p, fmt.Sprintf("%s.%d.%d", name, p.Epoch(), step), random.IntN(c.commands)); err != nil {
				break
			}
		}
		p.Abandon()
		<-p.Closed()
	}
}

func (c *contest) serve(p *storage.Partition, tag string, what int) error {
	switch {
	case what >= 10:
		return p.Compact(context.Background())
	case what >= 8:
		return c.transact(p)
	case what == 0:
		end := p.Offsets().HighWatermark
		if end == 0 {
			return nil
		}
		return c.ledger.deleteRecords(p, end-end/3)
	case what == 1:
		return p.Handover(context.Background())
	case what <= 4:
		c.read(p)
		return p.Err()
	}
	b, err := build(tag, 1+what%2, 1000)
	if c.ledger.gone != nil {
		b, err = buildKeyed(tag, []string{"k1", "k2"}[:1+what%2]...)
	}
	if err != nil {
		return err
	}
	ticket, err := c.ledger.ask(p, b)
	if err != nil {
		return err
	}
	if err := ticket.WaitDurable(context.Background()); err != nil {
		return err
	}
	c.violate(c.ledger.promise(ticket.Result(), b, p.Epoch()))
	return nil
}

func (c *contest) run(owners, steps int) {
	random := rand.New(rand.NewPCG(c.seed, 1))
	for i := range owners {
		engine, err := storage.NewEngine(storage.Options{RetentionInterval: -1, CompactionInterval: -1})
		must(c.t, err)
		c.engines = append(c.engines, engine)
		c.running.Add(1)
		go c.lead(engine, fmt.Sprint("owner", i), c.view(), rand.New(rand.NewPCG(c.seed, uint64(i+2))))
	}
	for range steps {
		synctest.Wait()
		if !c.turnstile.next(random) {
			if c.running.Load() == 0 {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
}

func (c *contest) judge() {
	for name, choice := range map[string]vfs.Choice{"all": vfs.SurviveAll, "none": vfs.SurviveNone, "some": vfs.SurviveSeeded(c.seed)} {
		if err := c.ledger.clone().verify(c.disk.PowerCut(choice), c.config); err != nil {
			c.violate(fmt.Errorf("after a server crash that spares %s: %w", name, err))
		}
	}
}

// Every order of the file calls of several owners keeps every promise. The owners append, roll, delete records and hand over; the run ends at
// any call, with a crash of the server.
func TestOwnersContend(t *testing.T) { contend(t, 1500, false) }

// The same of a log that is compacted: what is gone never comes back.
func TestOwnersContendWhileCompacting(t *testing.T) { contend(t, 1500, true) }

func contend(t *testing.T, seeds int, compacted bool) {
	if testing.Short() {
		seeds = 200
	}
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) {
			c := &contest{t: t, seed: uint64(seed), disk: vfs.NewCrash(64 << 20), ledger: newLedger(), config: storage.DefaultConfig(), seen: map[int64]string{}, decided: map[int64]bool{}, commands: 10}
			c.config.SegmentBytes, c.config.IndexInterval = 200, 1
			if compacted {
				c.config.Compact, c.config.DeleteRetention, c.commands = true, 0, 14
				c.ledger = newCompactedLedger()
			}
			must(t, create(c.disk))
			c.ledger.exists = true
			c.run(2+seed%2, 40+seed%7*40)
			c.judge()
			c.turnstile.release()
			for _, engine := range c.engines {
				if err := engine.Close(); err != nil {
					t.Error(err)
				}
			}
			for c.running.Load() > 0 {
				time.Sleep(time.Second)
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			if err := errors.Join(c.violations...); err != nil {
				t.Errorf("seed %d: %v", seed, err)
			}
		})
		if t.Failed() {
			return
		}
	}
}
