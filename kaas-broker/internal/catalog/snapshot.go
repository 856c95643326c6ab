package catalog

import (
	"cmp"
	"maps"
	"slices"

	"github.com/google/uuid"
)

// Snapshot is the state of the catalog at one moment. It never changes.
type Snapshot struct {
	byName   map[string]*Topic
	byID     map[uuid.UUID]*Topic
	byFolded map[string]string // name with dots folded (see Fold) -> a topic that has it
	sorted   []*Topic
}

// Len is the number of topics.
func (s *Snapshot) Len() int { return len(s.sorted) }

// Topics are all topics in order of their names. The slice is shared: do not change it.
func (s *Snapshot) Topics() []*Topic { return s.sorted }

// ByName finds a topic by its name.
func (s *Snapshot) ByName(name string) (*Topic, bool) {
	topic, ok := s.byName[name]
	return topic, ok
}

// ByID finds a topic by its id.
func (s *Snapshot) ByID(id uuid.UUID) (*Topic, bool) {
	topic, ok := s.byID[id]
	return topic, ok
}

// Collision finds a topic other than name itself whose name differs from it only in dots and underscores.
func (s *Snapshot) Collision(name string) (string, bool) {
	other, ok := s.byFolded[Fold(name)]
	return other, ok && other != name
}

// with returns a snapshot in which removed topics are missing and put ones replace their namesakes.
func (s *Snapshot) with(put []*Topic, removed []string) *Snapshot {
	next := &Snapshot{byName: maps.Clone(s.byName)}
	for _, name := range removed {
		delete(next.byName, name)
	}
	for _, topic := range put {
		next.byName[topic.Name] = topic
	}
	next.byID = make(map[uuid.UUID]*Topic, len(next.byName))
	next.byFolded = make(map[string]string, len(next.byName))
	next.sorted = make([]*Topic, 0, len(next.byName))
	for name, topic := range next.byName {
		next.byID[topic.ID] = topic
		next.byFolded[Fold(name)] = name
		next.sorted = append(next.sorted, topic)
	}
	slices.SortFunc(next.sorted, func(a, b *Topic) int { return cmp.Compare(a.Name, b.Name) })
	return next
}

func empty() *Snapshot {
	return &Snapshot{byName: map[string]*Topic{}, byID: map[uuid.UUID]*Topic{}, byFolded: map[string]string{}}
}
