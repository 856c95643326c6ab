package metastore

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"github.com/rs/zerolog"
)

// Problem is something that a person should look at. Topics are served as before meanwhile.
type Problem struct {
	// Manifest is the file below topics/ that it is about, empty if it is about none.
	Manifest string
	// Topic is the topic that it is about, empty if that is not known.
	Topic string
	// Reason says what is wrong and, where that is not obvious, what to do.
	Reason string
}

// String is the problem as one line that begins with what it is about.
func (p Problem) String() string {
	if p.Manifest == "" {
		return "topic " + p.Topic + ": " + p.Reason
	}
	return p.Manifest + ": " + p.Reason
}

// MarshalZerologObject adds to a log line what is known of the problem's place.
func (p Problem) MarshalZerologObject(line *zerolog.Event) {
	if p.Manifest != "" {
		line.Str("manifest", p.Manifest)
	}
	if p.Topic != "" {
		line.Str("topic", p.Topic)
	}
}

// problems is the list of what is wrong now. Each pass over the store replaces it.
type problems struct {
	mutex sync.Mutex
	now   map[Problem]struct{}
}

// Problems is what is wrong at present, in order of manifest and topic.
func (s *Store) Problems() []Problem {
	s.problems.mutex.Lock()
	defer s.problems.mutex.Unlock()
	return sortedProblems(s.problems.now)
}

// replace logs what is new and what is over, so that each problem makes two lines however often it is met.
func (p *problems) replace(logger zerolog.Logger, next map[Problem]struct{}) {
	p.mutex.Lock()
	before := p.now
	p.now = next
	p.mutex.Unlock()
	for _, problem := range sortedProblems(next) {
		if _, known := before[problem]; !known {
			logger.Warn().EmbedObject(problem).Msg(problem.Reason)
		}
	}
	for _, problem := range sortedProblems(before) {
		if _, still := next[problem]; !still {
			logger.Info().EmbedObject(problem).Str("problem", problem.Reason).Msg("no longer a problem")
		}
	}
}

func sortedProblems(set map[Problem]struct{}) []Problem {
	return slices.SortedFunc(maps.Keys(set), func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Manifest, b.Manifest), cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Reason, b.Reason))
	})
}
