package vfs

import (
	"cmp"
	"fmt"
	"slices"
)

// ChangeKind says what an unsynced change is.
type ChangeKind uint8

// The kinds of changes. ChangeGrow is the part of a write that makes the
// file longer.
const (
	ChangeWrite ChangeKind = iota + 1
	ChangeGrow
	ChangeCreate
	ChangeMkdir
	ChangeRemove
	ChangeRmdir
	ChangeRename
	ChangeTruncate
)

var changeNames = [...]string{
	ChangeWrite: "write", ChangeGrow: "grow", ChangeCreate: "create", ChangeMkdir: "mkdir",
	ChangeRemove: "remove", ChangeRmdir: "rmdir", ChangeRename: "rename",
	ChangeTruncate: "truncate",
}

func (k ChangeKind) String() string {
	if int(k) < len(changeNames) && changeNames[k] != "" {
		return changeNames[k]
	}
	return fmt.Sprintf("change %d", uint8(k))
}

// Pending is an unsynced change, or a piece of an unsynced write, that a power
// cut may or may not undo.
type Pending struct {
	// Change numbers the changes from 0; the pieces of one write share it.
	Change int
	Kind   ChangeKind
	// Path is the directory, as the handle that was used knew it, Name the
	// entry, NewName the second one of a rename.
	Path, Name, NewName string
	// Offset and Size are the range of a ChangeWrite in bytes. A ChangeGrow and a ChangeTruncate have the new size.
	Offset, Size int64
}

func (p Pending) String() string {
	return fmt.Sprintf("%d: %s %s/%s %s[%d+%d]", p.Change, p.Kind, p.Path, p.Name, p.NewName, p.Offset, p.Size)
}

// sector is the size in bytes at whose multiples a write is cut, if it is long enough.
const sector = 512

// survivor is a Pending with what it takes to apply it.
type survivor struct {
	pending Pending
	change  *change
}

// pendingLocked returns what the durable tree could still get, in the order in
// which it happened. Files that no surviving name can lead to are left out.
func (c *Crash) pendingLocked() []survivor {
	changes := reachable(c.mem.root, nil)
	slices.SortFunc(changes, func(a, b *change) int { return cmp.Compare(a.sequence, b.sequence) })
	var all []survivor
	for number, changed := range changes {
		all = append(all, changed.pieces(number)...)
	}
	return all
}

func reachable(node memNode, changes []*change) []*change {
	return collect(node, changes, make(map[memNode]bool))
}

func collect(node memNode, changes []*change, seen map[memNode]bool) []*change {
	if seen[node] {
		return changes
	}
	seen[node] = true
	switch node := node.(type) {
	case *memFile:
		return append(changes, node.shadow.pending...)
	case *memDir:
		for _, child := range node.shadow.entries {
			changes = collect(child, changes, seen)
		}
		for _, changed := range node.shadow.pending {
			changes = append(collect(changed.child, changes, seen), changed)
		}
	}
	return changes
}

// pieces cuts a change into what can survive by itself: a write into its
// growth and up to three ranges.
func (c *change) pieces(number int) []survivor {
	whole := Pending{Change: number, Kind: c.kind, Path: c.path, Name: c.name, NewName: c.newName}
	whole.Size = c.shrinksTo
	if c.kind != ChangeWrite {
		return []survivor{{whole, c}}
	}
	var all []survivor
	if c.growsTo > 0 {
		grow := whole
		grow.Kind, grow.Size = ChangeGrow, c.growsTo
		all = append(all, survivor{grow, c})
	}
	end := c.off + int64(len(c.data))
	from := c.off
	for _, to := range []int64{c.cutAt(1), c.cutAt(2), end} {
		if to > from {
			piece := whole
			piece.Offset, piece.Size = from, to-from
			all = append(all, survivor{piece, c})
			from = to
		}
	}
	return all
}

// cutAt returns the offset of the first or second third's end.
func (c *change) cutAt(third int64) int64 {
	size := int64(len(c.data))
	at := c.off + size*third/3
	if size >= 3*sector {
		at -= at % sector
	}
	return at
}
