package metastore

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

const (
	manifestSuffix = ".yaml"
	manifestLimit  = 1 << 20
)

// file is one manifest file as it was last read.
type file struct {
	name string
	// size, modified and readAt tell whether it has to be read again.
	size     int64
	modified time.Time
	readAt   time.Time
	manifest *manifest // nil while the file cannot be understood
	err      error     // why
	// owner is the topic that the file was last known to belong to, also while it cannot be understood.
	owner string
}

// settling is how long after a change a file is read at each pass: within the clock's grain a second change may show neither in the time nor
// in the size.
const settling = 3 * time.Second

func (f *file) unchanged(entry vfs.Entry) bool {
	return f.size == entry.Size && f.modified.Equal(entry.ModTime) && f.readAt.Sub(entry.ModTime).Abs() > settling
}

// scan brings s.files up to date with the directory. When the directory cannot be listed everything stays as it was.
func (s *Store) scan() error {
	entries, err := s.manifests.List()
	if err != nil {
		return fmt.Errorf("list manifests: %w", err)
	}
	present := map[string]bool{}
	for _, entry := range entries {
		if entry.IsDir || !manifestName(entry.Name) {
			continue
		}
		present[entry.Name] = true
		if f := s.look(entry.Name); f != nil {
			s.files[entry.Name] = f
		} else {
			delete(present, entry.Name)
		}
	}
	maps.DeleteFunc(s.files, func(name string, _ *file) bool { return !present[name] })
	return nil
}

// manifestName leaves out what is hidden: editors' and our own temporary files, and what file servers put there.
func manifestName(name string) bool {
	return !strings.HasPrefix(name, ".") && (strings.HasSuffix(name, manifestSuffix) || strings.HasSuffix(name, ".yml"))
}

// look returns the file as it is now, nil if it is gone.
func (s *Store) look(name string) *file {
	known := s.files[name]
	entry, err := s.manifests.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && known != nil && known.unchanged(entry) {
		return known
	}
	f := &file{name: name, readAt: time.Now()}
	if known != nil {
		f.owner = known.owner
	}
	var data []byte
	if err == nil {
		// Size and time were taken before the content, so that a change in between is noticed at the next pass.
		f.size, f.modified = entry.Size, entry.ModTime
		data, err = vfs.ReadFile(s.manifests, name, manifestLimit)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		f.err, f.readAt = err, f.modified // read again at each pass
	default:
		f.manifest, f.err = parseManifest(data)
	}
	if f.err == nil {
		f.owner = f.manifest.topic
	} else if f.owner == "" {
		f.owner = s.plainOwner(name)
	}
	return f
}

// plainOwner is the topic whose manifest a file would be by its name alone, empty if there is no such topic.
func (s *Store) plainOwner(name string) string {
	object := strings.TrimSuffix(strings.TrimSuffix(name, manifestSuffix), ".yml")
	for topic := range s.records {
		if ObjectName(topic) == object {
			return topic
		}
	}
	return ""
}

// bind finds the manifest of each topic. Of several that can be read, the one with the name that the store itself would give wins, else the
// first by name; the others are reported. A topic whose only file cannot be understood gets that one.
func (s *Store) bind(report func(Problem)) map[string]*file {
	bound := map[string]*file{}
	for _, name := range slices.Sorted(maps.Keys(s.files)) {
		f := s.files[name]
		if f.owner == "" {
			continue
		}
		other, taken := bound[f.owner]
		switch {
		case !taken:
			bound[f.owner] = f
		case f.manifest == nil:
		case other.manifest == nil:
			bound[f.owner] = f
		default:
			loser := f
			if f.name == ObjectName(f.owner)+manifestSuffix {
				bound[f.owner], loser = f, other
			}
			report(Problem{
				Manifest: loser.name, Topic: f.owner,
				Reason: "a second manifest of the same topic is ignored; the one that counts is " + bound[f.owner].name,
			})
		}
	}
	return bound
}
