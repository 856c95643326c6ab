package fileserver

import (
	"fmt"
	"sync"
	"time"
)

// CacheLifetime is how long a client may answer names and attributes without asking the server.
const CacheLifetime = time.Second

// Policy decides what the file system may do either way. A nil function stands for one that answers false.
type Policy struct {
	// Stale: a name or an attribute that is in the client's cache is answered from there.
	Stale func() bool
	// Delay: a write stays with the client until its next sync or close of the file.
	Delay func() bool
	// Attributes: a listing brings the attributes of all entries into the client's cache (READDIRPLUS).
	Attributes func() bool
}

func decide(question func() bool) bool { return question != nil && question() }

// Server is the file server. Its content lives as long as it is referred to. It is safe for concurrent use.
type Server struct {
	mu      sync.Mutex
	policy  Policy
	root    *inode
	inodes  map[*inode]struct{} // that have not gone
	clients []*Client
	silly   int
}

// New makes an empty file server.
func New(p Policy) *Server {
	s := &Server{policy: p, root: newDirectory("root"), inodes: make(map[*inode]struct{})}
	s.inodes[s.root] = struct{}{}
	return s
}

// Client connects another machine. The name is for messages and for the choices at a crash.
func (s *Server) Client(name string) *Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &Client{
		server: s, name: name,
		names:      make(map[*inode]map[string]cachedName),
		attributes: make(map[*inode]cachedAttributes),
		files:      make(map[*inode]*clientFile),
		lost:       make(map[*inode]int),
	}
	s.clients = append(s.clients, c)
	return c
}

// Client is one machine that has the file system mounted: the unit of caches and of unsent writes.
type Client struct {
	server     *Server
	name       string
	names      map[*inode]map[string]cachedName
	attributes map[*inode]cachedAttributes
	files      map[*inode]*clientFile
	lost       map[*inode]int // how often entries of this client were lost, for each directory
}

// Process returns the file system as a process of the client sees it. The name is for messages.
func (c *Client) Process(name string) *Process { return &Process{client: c, name: name} }

// inode is a file or directory of the server. The server's mutex guards it.
type inode struct {
	id       string // who made it, and its how-manieth: the same in every schedule
	modified time.Time
	gone     bool // lost its name at a crash
	removed  bool
	remover  *Process

	entries        map[string]*inode // nil for files
	durableEntries map[string]*inode

	data        []byte // never changed in place: caches share it
	durableData []byte
	version     int64 // counts the changes of data
	sillyOwner  *Client

	pending []*change // not durable, in the order in which they were made
}

func newDirectory(id string) *inode {
	return &inode{id: id, modified: time.Now(), entries: make(map[string]*inode), durableEntries: make(map[string]*inode)}
}

func newFile(id string) *inode { return &inode{id: id, modified: time.Now()} }

func (n *inode) isDir() bool { return n.entries != nil }

// add registers what a process has made under an id that does not depend on what others do.
func (s *Server) add(p *Process, create func(id string) *inode) *inode {
	p.made++
	n := create(fmt.Sprintf("%s#%d", p.name, p.made))
	s.inodes[n] = struct{}{}
	return n
}

// written returns data with p at off, as a new slice.
func written(data, p []byte, off int64) []byte {
	end := max(int64(len(data)), off+int64(len(p)))
	next := make([]byte, end)
	copy(next, data)
	copy(next[off:], p)
	return next
}
