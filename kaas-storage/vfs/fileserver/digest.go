package fileserver

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
)

// Digest writes everything that later answers depend on, times excepted, in an order that does not depend on how it came to be: two servers
// that write the same go on alike.
func (s *Server) Digest(w io.Writer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	inodes := slices.SortedFunc(maps.Keys(s.inodes), func(a, b *inode) int { return cmp.Compare(a.id, b.id) })
	for _, n := range inodes {
		fmt.Fprintf(w, "%s %t %x %x", n.id, n.removed, n.data, n.durableData)
		writeEntries(w, n.entries)
		writeEntries(w, n.durableEntries)
		writeChanges(w, n.pending)
	}
	for _, c := range s.clients {
		c.digest(w, inodes)
	}
}

func (c *Client) digest(w io.Writer, inodes []*inode) {
	fmt.Fprintf(w, "client %s", c.name)
	for _, n := range inodes {
		if names := c.names[n]; len(names) > 0 && c.server.policy.Stale != nil {
			for _, name := range slices.Sorted(maps.Keys(names)) {
				fmt.Fprintf(w, " %s=%s", name, identity(names[name].child))
			}
		}
		if known, ok := c.attributes[n]; ok && c.server.policy.Stale != nil {
			fmt.Fprintf(w, " %s:%d", n.id, known.size)
		}
		if file, ok := c.files[n]; ok {
			fmt.Fprintf(w, " %s %t %x %d", n.id, file.version == n.version, file.view, len(file.handles))
			writeChanges(w, file.unsent)
			writeChanges(w, file.unsynced)
		}
		if c.lost[n] > 0 {
			fmt.Fprintf(w, " lost %d", c.lost[n])
		}
	}
}

func identity(n *inode) string {
	if n == nil {
		return "none"
	}
	return n.id
}

func writeEntries(w io.Writer, entries map[string]*inode) {
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		if n := entries[name]; len(name) > 0 && name[0] == '.' {
			fmt.Fprintf(w, "{.%s}", n.id) // temporary names are random
		} else {
			fmt.Fprintf(w, "{%s %s}", name, n.id)
		}
	}
}

func writeChanges(w io.Writer, changes []*change) {
	for _, c := range changes {
		fmt.Fprintf(w, "[%s %d %s %d %x]", c.Client, c.Kind, identity(c.child), c.Offset, c.data)
	}
}
