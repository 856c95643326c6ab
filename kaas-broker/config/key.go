package config

import (
	"slices"
	"strings"

	"github.com/kaas-rs/kaas/kaas-broker/config/configdef"
)

// Key is one property that a broker may be given.
type Key struct {
	configdef.Definition
	// Dynamic is true for the keys that Kafka can change while a broker runs (KIP-226).
	Dynamic bool
	// Served is true when the key means something in kaas; setting another one is answered with a warning.
	Served bool
}

const (
	static  = false
	dynamic = true
	// null stands for a default that is null.
	null = "\x00"
)

const ignoredDoc = "Accepted so that a configuration written for Kafka starts; it has no effect in kaas."

// served is a row for a key that means something here; check may be nil.
func served(name string, t configdef.Type, fallback string, isDynamic bool, check configdef.Check, doc string) Key {
	key := row(name, t, fallback, isDynamic)
	key.Served, key.Check, key.Doc = true, check, doc
	return key
}

// ignored is a row for a key that Kafka knows and kaas has no use for.
func ignored(name string, t configdef.Type, fallback string, isDynamic bool) Key {
	key := row(name, t, fallback, isDynamic)
	key.Doc = ignoredDoc
	return key
}

func row(name string, t configdef.Type, fallback string, isDynamic bool) Key {
	key := Key{Definition: configdef.Definition{Name: name, Type: t, Default: fallback}, Dynamic: isDynamic}
	if fallback == null {
		key.Default, key.NoDefault = "", true
	}
	return key
}

// tables are Kafka's keys, by subject.
var tables = [][]Key{
	logKeys, networkKeys, brokerKeys, coordinatorKeys, replicationKeys, securityKeys, saslKeys, remoteKeys, zookeeperKeys,
}

// Keys returns Kafka 3.7.2's broker keys in alphabetical order, a fresh copy.
func Keys() []Key {
	keys := slices.Concat(tables...)
	slices.SortFunc(keys, func(a, b Key) int { return strings.Compare(a.Name, b.Name) })
	return keys
}

// find returns one of Kafka's keys or of kaas's own.
func find(name string) (Key, bool) {
	for _, table := range append(tables[:len(tables):len(tables)], ownKeys) {
		for _, key := range table {
			if key.Name == name {
				return key, true
			}
		}
	}
	return Key{}, false
}

// Chain returns the broker keys that can set what name sets, the strongest first: a duration may be given in
// milliseconds, minutes or hours. A key without relatives is alone in its chain.
func Chain(name string) []string {
	switch name {
	case "log.retention.ms", "log.retention.minutes", "log.retention.hours":
		return []string{"log.retention.ms", "log.retention.minutes", "log.retention.hours"}
	case "log.roll.ms", "log.roll.hours":
		return []string{"log.roll.ms", "log.roll.hours"}
	case "log.roll.jitter.ms", "log.roll.jitter.hours":
		return []string{"log.roll.jitter.ms", "log.roll.jitter.hours"}
	case "log.flush.interval.ms":
		return []string{"log.flush.interval.ms", "log.flush.scheduler.interval.ms"}
	default:
		return []string{name}
	}
}
