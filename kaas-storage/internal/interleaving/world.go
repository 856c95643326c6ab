package interleaving

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
	"github.com/kaas-rs/kaas/kaas-storage/vfs/fileserver"
)

// directory is the partition that everybody wants.
const directory = "p"

// Plan is one program: who does what, and what may go wrong. A run of it is one schedule.
type Plan struct {
	Name string
	// Leader runs alone before everybody else, and goes on with its Steps afterwards.
	Prelude []Step
	Owners  []OwnerPlan
	Policy  func() fileserver.Policy // anew for each run; nil: caches and delays play no part
	Crashes int                      // of the server, at most
	Pauses  int                      // in which time passes and caches run out, at most
	// Background says that Options let the engine work on its own when time passes.
	Background bool
	// Losses adds to what a crash may lose.
	Losses  []loss
	Config  storage.Config
	Options storage.Options
	// Coarse makes calls together that nobody but their maker can tell apart: what is done to files that no manifest names yet, and what is
	// read of files that do not change any more. Removals still are points of their own with Removals.
	Coarse, Removals bool
	// Deceive puts something between each owner's engine and the file server: a mutation of the engine, made outside of it.
	Deceive func(o *Owner, inner vfs.FS) vfs.FS
}

// OwnerPlan is one process. Owners of one client share its caches.
type OwnerPlan struct {
	Name   string
	Client string
	Steps  []Step
}

// Step is one command that an owner carries out.
type Step struct {
	Name string
	Run  func(o *Owner)
}

// world is the state of one run.
type world struct {
	plan        Plan
	server      *fileserver.Server
	clients     map[string]*fileserver.Client
	owners      []*Owner
	gate        *gate
	judge       *judge
	producers   []*producer
	transactors []*transactor
	script      []string
	crashes     int
	pauses      int
}

func newWorld(plan Plan) (*world, error) {
	var policy fileserver.Policy
	if plan.Policy != nil {
		policy = plan.Policy()
	}
	w := &world{plan: plan, server: fileserver.New(policy), clients: map[string]*fileserver.Client{}, gate: &gate{}}
	w.judge = newJudge(w)
	for id := range producers {
		w.producers = append(w.producers, &producer{id: int64(id + 1)})
	}
	w.producers = append(w.producers, &producer{id: producers + 1, plain: true})
	for number := range int64(transactors) {
		w.transactors = append(w.transactors, &transactor{id: firstTransactor + number})
	}
	setup := w.server.Client("setup").Process("setup")
	if err := setup.MkdirAll(directory); err != nil {
		return nil, err
	}
	dir, err := setup.OpenDir(directory)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	if err := storage.InitPartition(dir, 0); err != nil {
		return nil, err
	}
	for _, p := range plan.Owners {
		o, err := w.addOwner(p)
		if err != nil {
			return nil, err
		}
		w.owners = append(w.owners, o)
	}
	return w, nil
}

func (w *world) addOwner(p OwnerPlan) (*Owner, error) {
	if w.clients[p.Client] == nil {
		w.clients[p.Client] = w.server.Client(p.Client)
	}
	engine, err := storage.NewEngine(w.plan.Options)
	if err != nil {
		return nil, err
	}
	o := &Owner{name: p.Name, world: w, engine: engine, repeats: make(map[string]int)}
	var inner vfs.FS = watchedFS{w.clients[p.Client].Process(p.Name), o}
	if w.plan.Deceive != nil {
		inner = w.plan.Deceive(o, inner)
	}
	o.fs = &gatedFS{o, inner}
	return o, nil
}

// digest identifies the state of the run: what the server has, and what each owner has learned. Owners that learned the same are in the same state.
func (w *world) digest() uint64 {
	h := fnv.New64a()
	w.server.Digest(h)
	for _, o := range w.owners {
		o.mu.Lock()
		fmt.Fprintf(h, "%s %x;", o.name, o.history)
		o.mu.Unlock()
	}
	for _, c := range w.gate.calls() {
		fmt.Fprintf(h, "%s;", c)
	}
	fmt.Fprintf(h, "%d %d", w.crashes, w.pauses)
	return h.Sum64()
}

func (w *world) tellf(format string, values ...any) {
	w.script = append(w.script, fmt.Sprintf(format, values...))
}

// crash loses what is not durable as the choice says.
func (w *world) crash(name string, survives func(fileserver.Change) bool) {
	w.tellf("server crashes: %s", name)
	w.crashes++
	w.server.Crash(func(c fileserver.Change) bool {
		kept := survives(c)
		w.tellf("    %s %s %s[%d+%d] of %s: %s", c.Kind, directory, stable(c.Name), c.Offset, c.Size, c.Client, map[bool]string{true: "kept", false: "lost"}[kept])
		return kept
	})
}

// losses lists what a crash may do at this moment.
func (w *world) losses() []loss {
	pending := w.server.Pending()
	if len(pending) == 0 || w.crashes >= w.plan.Crashes {
		return nil
	}
	if w.plan.Losses != nil {
		return w.plan.Losses
	}
	entries := slices.ContainsFunc(pending, fileserver.Change.Entry)
	data := slices.ContainsFunc(pending, func(c fileserver.Change) bool { return !c.Entry() })
	all := []loss{{"everything is lost", func(fileserver.Change) bool { return false }}}
	if entries && data {
		all = append(all,
			loss{"data is lost", fileserver.Change.Entry},
			loss{"directory entries are lost", func(c fileserver.Change) bool { return !c.Entry() }})
	}
	var clients []string
	for _, c := range pending {
		clients = append(clients, c.Client)
	}
	slices.Sort(clients)
	clients = slices.Compact(clients)
	for _, client := range clients {
		if len(clients) > 1 {
			all = append(all, loss{"what " + client + " did is lost", func(c fileserver.Change) bool { return c.Client != client }})
		}
	}
	return all
}

type loss struct {
	name     string
	survives func(fileserver.Change) bool
}

func byEpoch(a, b *leadership) int { return cmp.Compare(a.epoch, b.epoch) }
