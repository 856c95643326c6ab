package config

import (
	"errors"
	"slices"
	"strings"

	"github.com/kaas-rs/kaas/kaas-broker/config/configdef"
)

// setting is one key with the text it was given and the place where.
type setting struct {
	key    string
	raw    string
	origin Origin
}

// settings collects what the sources say, layer by layer from the lowest, and everything that is wrong with it.
type settings struct {
	winners  map[string]setting
	problems []Problem
	warnings []Warning
}

func newSettings() *settings {
	return &settings{winners: map[string]setting{}}
}

// groups are keys that say the same thing in different words. A layer that sets one of them replaces what lower layers
// said with another.
var groups = [][]string{
	{"log.retention.ms", "log.retention.minutes", "log.retention.hours"},
	{"log.roll.ms", "log.roll.hours"},
	{"broker.id", "node.id"},
	{keyDataDir, "log.dirs", "log.dir"},
	{keyCertificateFile, keyPrivateKeyFile, "ssl.keystore.location"},
	{keyClientCAFile, "ssl.truststore.location"},
}

// add takes over one layer. Of settings of one key the later wins.
func (s *settings) add(layer []setting) {
	for _, given := range layer {
		given.key = lowerListener(given.key)
		if !s.accept(given) {
			continue
		}
		for _, group := range groups {
			if slices.Contains(group, given.key) {
				s.displace(group, given.origin.Layer)
			}
		}
		s.winners[given.key] = given
	}
}

func (s *settings) displace(group []string, layer Layer) {
	for _, relative := range group {
		if s.winners[relative].origin.Layer < layer {
			delete(s.winners, relative)
		}
	}
}

// accept reports whether the key is one that Load goes on with, and notes what is to be said about it.
func (s *settings) accept(given setting) bool {
	key, ok := lookup(given.key)
	switch {
	case !ok && foreign(given.key):
		s.warn(given.origin, given.key, "is a key of other Kafka versions or plug-ins and is ignored")
		return false
	case !ok:
		s.reject(given.origin, unknown(given.key))
		return false
	case !key.Served:
		s.warn(given.origin, given.key, "has no effect in kaas")
	}
	return true
}

// lookup finds the definition of a key, also behind Kafka's prefix for the settings of one listener.
func lookup(name string) (Key, bool) {
	if key, ok := find(name); ok {
		return key, true
	}
	suffix, ok := listenerSuffix(name)
	if !ok {
		return Key{}, false
	}
	for {
		if key, ok := find(suffix); ok {
			key.Name = name
			key.Served = key.Served && perListener(suffix)
			return key, true
		}
		// SASL mechanisms stand between the listener and the key.
		_, rest, found := strings.Cut(suffix, ".")
		if !found {
			return Key{}, false
		}
		suffix = rest
	}
}

const listenerPrefix = "listener.name."

// listenerSuffix cuts "listener.name.<name>." off.
func listenerSuffix(name string) (string, bool) {
	rest, ok := strings.CutPrefix(name, listenerPrefix)
	if !ok {
		return "", false
	}
	_, suffix, ok := strings.Cut(rest, ".")
	return suffix, ok
}

// lowerListener writes the listener's name in lower case, as Kafka looks it up.
func lowerListener(name string) string {
	suffix, ok := listenerSuffix(name)
	if !ok {
		return name
	}
	return strings.ToLower(strings.TrimSuffix(name, suffix)) + suffix
}

// perListener reports whether one listener can have its own value of a key.
func perListener(name string) bool {
	return strings.HasPrefix(name, "ssl.") || strings.HasPrefix(name, "kaas.ssl.") ||
		name == "max.connections" || name == "max.connection.creation.rate"
}

func foreign(name string) bool {
	if slices.Contains(foreignKeys, name) {
		return true
	}
	return slices.ContainsFunc(foreignPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

func unknown(name string) error {
	var names []string
	for _, key := range slices.Concat(Keys(), ownKeys) {
		names = append(names, key.Name)
	}
	return &configdef.UnknownKeyError{Kind: "broker", Name: name, Nearest: configdef.Nearest(name, names)}
}

// parse turns the winners into values. Those that do not parse are rejected and left out.
func (s *settings) parse() map[string]configdef.Value {
	given := make(map[string]configdef.Value, len(s.winners))
	for _, name := range s.names() {
		winner := s.winners[name]
		key, _ := lookup(name)
		value, err := key.Parse(winner.raw)
		if err != nil {
			s.reject(winner.origin, err)
			continue
		}
		given[name] = value
	}
	return given
}

// names are the keys that were set, sorted so that messages come in a fixed order.
func (s *settings) names() []string {
	names := make([]string, 0, len(s.winners))
	for name := range s.winners {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// origin is where the key was set.
func (s *settings) origin(key string) Origin { return s.winners[key].origin }

func (s *settings) reject(origin Origin, err error) {
	s.problems = append(s.problems, Problem{origin, err})
}

// rejectValue rejects the value of a key for a reason that the key's definition does not know.
func (s *settings) rejectValue(key, value, reason string) {
	s.reject(s.origin(key), &configdef.ValueError{Name: key, Value: value, Reason: reason})
}

func (s *settings) warn(origin Origin, key, message string) {
	s.warnings = append(s.warnings, Warning{origin, key, message})
}

// err returns what was rejected, highest layer last and files by line.
func (s *settings) err() error {
	if len(s.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(s.problems, func(a, b Problem) int {
		if a.Origin.Layer != b.Origin.Layer {
			return int(a.Origin.Layer - b.Origin.Layer)
		}
		return a.Origin.Line - b.Origin.Line
	})
	return &ProblemsError{s.problems}
}

// ErrConflict means that two settings of the same rank contradict each other.
var ErrConflict = errors.New("contradicting settings")
