package interleaving

import (
	"fmt"
	"strings"
	"testing/synctest"
	"time"

	"github.com/kaas-rs/kaas/kaas-storage/vfs/fileserver"
)

// option is something that can happen next.
type option struct {
	call *call // nil for a crash or a pause
	loss *loss
}

func (o option) String() string {
	switch {
	case o.call != nil:
		return o.call.String()
	case o.loss != nil:
		return "server crashes: " + o.loss.name
	}
	return "time passes"
}

// chooser picks the next option, or ends the run early with a negative number.
type chooser func(w *world, options []option) int

// outcome is what came of one run.
type outcome struct {
	verdict error
	script  []string
	cut     bool // ended early by the chooser
}

func (o outcome) String() string {
	return fmt.Sprintf("%v\n  %s", o.verdict, strings.Join(o.script, "\n  "))
}

// run carries out a plan under one schedule. It must be called in a synctest bubble.
func run(plan Plan, choose chooser) (out outcome) {
	w, err := newWorld(plan)
	if err != nil {
		return outcome{verdict: err}
	}
	defer w.end()
	if err := w.prelude(); err != nil {
		return outcome{verdict: fmt.Errorf("prelude: %w", err), script: w.script}
	}
	for i, o := range w.owners {
		o.work.Go(func() { o.carryOut(plan.Owners[i].Steps) })
	}
	cut, err := w.schedule(choose)
	if err == nil && !cut {
		err = w.epilogue()
	}
	return outcome{verdict: err, script: w.script, cut: cut}
}

// prelude lets the first owner run alone.
func (w *world) prelude() error {
	first := w.owners[0]
	first.work.Go(func() { first.carryOut(w.plan.Prelude) })
	return w.drain()
}

// drain lets every call go on, in order, until nobody waits.
func (w *world) drain() error {
	for {
		synctest.Wait()
		if err := w.observe(); err != nil {
			return err
		}
		waiting := w.gate.calls()
		if len(waiting) == 0 {
			return nil
		}
		w.let(waiting[0])
	}
}

// schedule lets one thing happen after the other until nobody waits.
func (w *world) schedule(choose chooser) (cut bool, err error) {
	for {
		synctest.Wait()
		if err := w.observe(); err != nil {
			return false, err
		}
		var options []option
		calls := w.gate.calls()
		if len(calls) == 0 {
			return false, nil
		}
		for _, c := range calls {
			if !w.plan.Background || !contends(c, calls) {
				options = append(options, option{call: c})
			}
		}
		for _, l := range w.losses() {
			options = append(options, option{loss: &l})
		}
		if w.mayPause(calls) {
			options = append(options, option{})
		}
		chosen := choose(w, options)
		if chosen < 0 {
			return true, nil
		}
		w.happen(options[chosen])
	}
}

func (w *world) happen(o option) {
	switch {
	case o.call != nil:
		w.let(o.call)
	case o.loss != nil:
		w.crash(o.loss.name, o.loss.survives)
	default:
		w.tellf("time passes")
		w.pauses++
		time.Sleep(fileserver.CacheLifetime + time.Millisecond)
	}
}

// contends: a command that needs the partition's maintenance lock does not begin while background work of its owner may hold it. A goroutine that
// waits for a mutex is not blocked in the sense of synctest, so the run would hang.
func contends(c *call, calls []*call) bool {
	if !strings.HasPrefix(c.text, "* hand over") && !strings.HasPrefix(c.text, "* delete all") && !strings.HasPrefix(c.text, "* compact") {
		return false
	}
	for _, other := range calls {
		if other != c && other.owner == c.owner {
			return true
		}
	}
	return false
}

// mayPause reports whether time may pass. Timers start background work, which must not meet a lock that is held across a waiting call.
func (w *world) mayPause(calls []*call) bool {
	if w.pauses >= w.plan.Pauses {
		return false
	}
	for _, c := range calls {
		if w.plan.Background && c.owner.lead != nil && !strings.HasPrefix(c.text, "* ") {
			return false
		}
	}
	return true
}

func (w *world) let(c *call) {
	c.owner.mu.Lock()
	c.owner.lastResult = ""
	c.owner.mu.Unlock()
	line := len(w.script)
	w.tellf("%s", c)
	w.gate.release(c)
	synctest.Wait()
	c.owner.mu.Lock()
	defer c.owner.mu.Unlock()
	if c.owner.lastResult != "" {
		w.script[line] += " = " + c.owner.lastResult
	}
}

func (w *world) observe() error {
	blocked := make(map[*Owner]bool)
	for _, c := range w.gate.calls() {
		if strings.Contains(c.text, "open") || strings.Contains(c.text, "create") {
			blocked[c.owner] = true
		}
	}
	if err := w.judge.observe(blocked); err != nil {
		return err
	}
	return nil
}

// end stops every goroutine of the run.
func (w *world) end() {
	w.gate.abort()
	for _, o := range w.owners {
		_ = o.engine.Close()
		o.work.Wait()
	}
}

// settle lets caches and timers run out, and what they start come to its end.
func (w *world) settle() error {
	for range 3 {
		time.Sleep(fileserver.CacheLifetime + time.Millisecond)
		if err := w.drain(); err != nil {
			return err
		}
	}
	return nil
}
