package vfs

import (
	"maps"
	"math/rand/v2"
	"time"
)

// Choice decides which unsynced changes survive a power cut: the answer's element
// i is for pending[i], missing elements are false. Changes come in the order
// in which they were made.
type Choice func(pending []Pending) (survive []bool)

// SurviveNone is the choice that loses everything unsynced.
func SurviveNone([]Pending) []bool { return nil }

// SurviveAll is the choice that loses nothing.
func SurviveAll(pending []Pending) []bool {
	survive := make([]bool, len(pending))
	for i := range survive {
		survive[i] = true
	}
	return survive
}

// SurviveOnly is the choice that loses all but one.
func SurviveOnly(index int) Choice {
	return func(pending []Pending) []bool {
		survive := make([]bool, len(pending))
		if index >= 0 && index < len(survive) {
			survive[index] = true
		}
		return survive
	}
}

// SurviveSeeded is a pseudo-random choice, always the same for one seed. How
// much survives differs from seed to seed.
func SurviveSeeded(seed uint64) Choice {
	return func(pending []Pending) []bool {
		random := rand.New(rand.NewPCG(seed, seed))
		share := random.Float64()
		survive := make([]bool, len(pending))
		for i := range survive {
			survive[i] = random.Float64() < share
		}
		return survive
	}
}

// PowerCut returns the file system as it would be found after a power cut at
// this moment, if of the unsynced changes those survived that choose says.
// Everything in it is durable. The receiver stays as it is, so that many
// choices can be tried at one point; choose must not use it.
func (c *Crash) PowerCut(choose Choice) *Crash {
	c.mu.Lock()
	defer c.mu.Unlock()
	survivors := c.pendingLocked()
	survive := choose(describe(survivors))
	image := &crashImage{entries: make(map[*memDir]map[string]memNode), content: make(map[*memFile]*chunks)}
	for i, survivor := range survivors {
		if i < len(survive) && survive[i] {
			image.apply(survivor)
		}
	}
	after := NewCrash(0)
	image.fill(after.mem, after.mem.root, c.mem.root)
	// Old and new content of files together may be more than ever was at one time.
	after.mem.space.limit = c.mem.space.limit
	return after
}

// Pending returns what a power cut at this moment would put at risk.
func (c *Crash) Pending() []Pending {
	c.mu.Lock()
	defer c.mu.Unlock()
	return describe(c.pendingLocked())
}

func describe(survivors []survivor) []Pending {
	pending := make([]Pending, len(survivors))
	for i, survivor := range survivors {
		pending[i] = survivor.pending
	}
	return pending
}

// crashImage is the durable state with surviving changes applied: only what
// they touch is copied into it.
type crashImage struct {
	entries map[*memDir]map[string]memNode
	content map[*memFile]*chunks
}

func (image *crashImage) apply(s survivor) {
	if s.change.dir != nil {
		entries, ok := image.entries[s.change.dir]
		if !ok {
			entries = maps.Clone(s.change.dir.shadow.entries)
			image.entries[s.change.dir] = entries
		}
		s.change.applyEntry(entries)
		return
	}
	content, ok := image.content[s.change.file]
	if !ok {
		clone := s.change.file.shadow.content.clone()
		content = &clone
		image.content[s.change.file] = content
	}
	switch s.pending.Kind {
	case ChangeGrow:
		content.size = max(content.size, s.pending.Size)
		return
	case ChangeTruncate:
		s.change.applyTruncation(content)
		return
	default:
	}
	from := s.pending.Offset - s.change.off
	s.change.applyData(content, from, from+s.pending.Size)
}

// fill copies a directory of the image into an empty one.
func (image *crashImage) fill(mem *Mem, into, from *memDir) {
	entries, ok := image.entries[from]
	if !ok {
		entries = from.shadow.entries
	}
	into.modified, into.shadow.modified = from.shadow.modified, from.shadow.modified
	for name, node := range entries {
		mem.space.used.Add(nodeCost)
		switch node := node.(type) {
		case *memDir:
			child := newMemDir(time.Time{})
			child.shadow = newShadowDir()
			image.fill(mem, child, node)
			into.entries[name], into.shadow.entries[name] = child, child
		case *memFile:
			child := image.file(mem, node)
			child.shadow.name = name
			into.entries[name], into.shadow.entries[name] = child, child
		}
	}
}

func (image *crashImage) file(mem *Mem, from *memFile) *memFile {
	content, ok := image.content[from]
	if !ok {
		content = &from.shadow.content
	}
	mem.space.used.Add(content.allocated)
	shadow := &shadowFile{path: from.shadow.path, content: content.clone(), liveSize: content.size, modified: from.shadow.modified}
	return &memFile{space: mem.space, linked: true, content: content.clone(), modified: shadow.modified, shadow: shadow}
}
