package fileserver

import (
	"cmp"
	"maps"
	"slices"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// Change is what a crash of the server can undo: an entry of a directory, or half of a write.
type Change struct {
	Client string
	Kind   vfs.ChangeKind // ChangeWrite or a change of a directory
	Name   string         // the entry, of renames the new one; of writes the name at the time of opening
	Offset int64          // of writes, in bytes
	Size   int64
}

// Entry reports whether the change is one of a directory.
func (c Change) Entry() bool { return c.Kind != vfs.ChangeWrite }

// change is a pending change of the inode that it is kept with.
type change struct {
	Change
	client *Client
	child  *inode
	data   []byte
}

// pieces are what can survive of a change by itself: of a write its first half, or its second.
func (c *change) pieces() []*change {
	if c.Entry() || len(c.data) < 2 {
		return []*change{c}
	}
	half := len(c.data) / 2
	first, second := *c, *c
	first.data, first.Size = c.data[:half], int64(half)
	second.data, second.Size, second.Offset = c.data[half:], int64(len(c.data)-half), c.Offset+int64(half)
	return []*change{&first, &second}
}

// Crash stops the server and starts it again. Of what is not durable those changes survive that survives says; they are then durable.
// Calls that come later find the server running: what an outage delays is the business of whoever schedules the calls.
func (s *Server) Crash(survives func(Change) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.pendingLocked() {
		if n.isDir() {
			s.crashDirectory(n, survives)
		} else {
			crashFile(n, survives)
		}
	}
	s.dropUnreachable()
}

// pendingLocked lists the inodes with pending changes in an order that does not depend on the schedule.
func (s *Server) pendingLocked() []*inode {
	var all []*inode
	for n := range s.inodes {
		if len(n.pending) > 0 {
			all = append(all, n)
		}
	}
	slices.SortFunc(all, func(a, b *inode) int { return cmp.Compare(a.id, b.id) })
	return all
}

// Pending lists what a crash at this moment could undo.
func (s *Server) Pending() []Change {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Change
	for _, n := range s.pendingLocked() {
		for _, c := range n.pending {
			for _, piece := range c.pieces() {
				all = append(all, piece.Change)
			}
		}
	}
	return all
}

func (s *Server) crashDirectory(n *inode, survives func(Change) bool) {
	for _, c := range n.pending {
		if survives(c.Change) {
			c.applyEntry(n.durableEntries)
		} else {
			c.client.lost[n]++
		}
	}
	n.pending = nil
	n.entries = maps.Clone(n.durableEntries)
}

// applyEntry makes a change of a directory, of which earlier ones may be missing.
func (c *change) applyEntry(entries map[string]*inode) {
	switch c.Kind {
	case vfs.ChangeCreate, vfs.ChangeMkdir:
		entries[c.Name] = c.child
	case vfs.ChangeRemove, vfs.ChangeRmdir:
		if entries[c.Name] == c.child {
			delete(entries, c.Name)
		}
	case vfs.ChangeRename:
		maps.DeleteFunc(entries, func(_ string, child *inode) bool { return child == c.child })
		entries[c.Name] = c.child
	default:
	}
}

func crashFile(n *inode, survives func(Change) bool) {
	for _, c := range n.pending {
		for _, piece := range c.pieces() {
			if survives(piece.Change) {
				n.durableData = written(n.durableData, piece.data, piece.Offset)
			}
		}
	}
	n.pending = nil
	n.data = n.durableData
	n.version++
}

// dropUnreachable ends what has no name any more; a removal that was undone gives its name back.
func (s *Server) dropUnreachable() {
	reached := make(map[*inode]struct{}, len(s.inodes))
	reach(s.root, reached)
	for n := range s.inodes {
		if _, ok := reached[n]; ok {
			n.removed, n.remover = false, nil
			continue
		}
		n.gone = true
		delete(s.inodes, n)
	}
}

func reach(n *inode, reached map[*inode]struct{}) {
	if _, ok := reached[n]; ok {
		return
	}
	reached[n] = struct{}{}
	for _, child := range n.entries {
		reach(child, reached)
	}
}
