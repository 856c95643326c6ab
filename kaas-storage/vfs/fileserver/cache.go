package fileserver

import (
	"time"
)

// cachedName is what a client last learned of a name; child is nil for "not there".
type cachedName struct {
	child *inode
	at    time.Time
}

type cachedAttributes struct {
	size     int64
	modified time.Time
	at       time.Time
}

func recent(at time.Time) bool { return time.Since(at) < CacheLifetime }

// resolve finds what a name stands for, from the cache where the policy wants it.
func (c *Client) resolve(dir *inode, name string) *inode {
	if known, ok := c.names[dir][name]; ok && recent(known.at) && decide(c.server.policy.Stale) {
		return known.child
	}
	child := dir.entries[name]
	c.learn(dir, name, child)
	return child
}

func (c *Client) learn(dir *inode, name string, child *inode) {
	if c.names[dir] == nil {
		c.names[dir] = make(map[string]cachedName)
	}
	c.names[dir][name] = cachedName{child, time.Now()}
}

// forget drops what the client knows of a directory's names, as the forced look before a listing does.
func (c *Client) forget(dir *inode) { delete(c.names, dir) }

// attributesOf returns size and time of an inode, from the cache where the policy wants it.
func (c *Client) attributesOf(n *inode) cachedAttributes {
	if known, ok := c.attributes[n]; ok && recent(known.at) && decide(c.server.policy.Stale) {
		return known
	}
	return c.ask(n)
}

// ask gets an inode's attributes from the server. What this client wrote and has not sent counts.
func (c *Client) ask(n *inode) cachedAttributes {
	size := int64(len(n.data))
	if file, ok := c.files[n]; ok && !n.isDir() {
		file.revalidate(n)
		size = int64(len(file.view))
	}
	fresh := cachedAttributes{size: size, modified: n.modified, at: time.Now()}
	c.attributes[n] = fresh
	return fresh
}

// clientFile is what a client has of a file in its memory.
type clientFile struct {
	view     []byte // content as this client sees it
	version  int64  // of the server's data that view is made of
	at       time.Time
	unsent   []*change // writes that the server has not seen
	unsynced []*change // writes since the last sync, unsent ones included
	handles  map[*Process]int
}

func (c *Client) file(n *inode) *clientFile {
	file, ok := c.files[n]
	if !ok {
		file = &clientFile{version: -1, handles: make(map[*Process]int)}
		c.files[n] = file
	}
	return file
}

// revalidate compares the version with the server's and reads anew if it differs. Unsent writes lie over what is read.
func (f *clientFile) revalidate(n *inode) {
	f.at = time.Now()
	if f.version == n.version {
		return
	}
	f.view, f.version = n.data, n.version
	for _, w := range f.unsent {
		f.view = written(f.view, w.data, w.Offset)
	}
}

// write changes the client's view, and the server's content unless the policy delays it.
func (c *Client) write(n *inode, w *change) {
	file := c.file(n)
	file.unsynced = append(file.unsynced, w)
	if decide(c.server.policy.Delay) {
		file.unsent = append(file.unsent, w)
		file.view = written(file.view, w.data, w.Offset)
	} else {
		c.send(n, file, []*change{w})
		file.view = written(file.view, w.data, w.Offset)
	}
	if known, ok := c.attributes[n]; ok {
		known.size, known.modified = int64(len(file.view)), time.Now()
		c.attributes[n] = known
	}
}

// send brings writes to the server, where they are visible to all and not durable.
func (c *Client) send(n *inode, file *clientFile, writes []*change) {
	current := file.version == n.version
	for _, w := range writes {
		n.data = written(n.data, w.data, w.Offset)
		n.pending = append(n.pending, w)
		n.version++
	}
	n.modified = time.Now()
	if current {
		file.version = n.version
	}
}

// flush sends what the server has not seen.
func (c *Client) flush(n *inode) {
	file := c.file(n)
	unsent := file.unsent
	file.unsent = nil
	c.send(n, file, unsent)
}

// sync makes this client's writes durable. Those that a crash of the server undid are sent again.
func (c *Client) sync(n *inode) {
	c.flush(n)
	file := c.file(n)
	for _, w := range file.unsynced {
		n.durableData = written(n.durableData, w.data, w.Offset)
		n.data = written(n.data, w.data, w.Offset)
	}
	if len(file.unsynced) > 0 {
		n.version++
		file.revalidate(n)
	}
	file.unsynced = nil
	kept := n.pending[:0]
	for _, w := range n.pending {
		if w.client != c {
			kept = append(kept, w)
		}
	}
	n.pending = kept
}
