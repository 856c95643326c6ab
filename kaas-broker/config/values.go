package config

import (
	"slices"

	"github.com/kaas-rs/kaas/kaas-broker/config/configdef"
)

// Values are the broker keys of a process: what was set and what holds otherwise. The zero value is a process that was
// told nothing. Copies share their content.
type Values struct{ given map[string]configdef.Value }

// Lookup returns the value that holds for the key: the one that was set, else the default. It is false for null and
// for keys that do not exist.
func (v Values) Lookup(name string) (configdef.Value, bool) {
	if value, ok := v.given[name]; ok {
		return value, true
	}
	key, ok := find(name)
	if !ok || key.NoDefault {
		return configdef.Value{}, false
	}
	value, err := key.Parse(key.Default)
	return value, err == nil
}

// Set reports whether the key was set by a flag, a variable or the file.
func (v Values) Set(name string) bool {
	_, ok := v.given[name]
	return ok
}

// value returns what holds for a key that has a default.
func (v Values) value(name string) configdef.Value {
	value, _ := v.Lookup(name)
	return value
}

// Synonyms returns where the value of a broker key can come from, the winner first, as Kafka lists it: the chain of
// the key from its own entry on, set values before defaults. A key that is neither set nor has a default lists nothing,
// even when a relative decides for it.
func (v Values) Synonyms(name string) []configdef.Synonym {
	var synonyms []configdef.Synonym
	for _, member := range Chain(name) {
		key, known := find(member)
		if !known {
			continue
		}
		if value, ok := v.given[member]; ok {
			synonyms = append(synonyms, synonym(key, value.Text(), configdef.SourceStaticBroker))
		}
		if !key.NoDefault {
			synonyms = append(synonyms, synonym(key, key.Default, configdef.SourceDefault))
		}
	}
	own := slices.IndexFunc(synonyms, func(s configdef.Synonym) bool { return s.Name == name })
	if own < 0 {
		return nil
	}
	return synonyms[own:]
}

func synonym(key Key, text string, source configdef.Source) configdef.Synonym {
	s := configdef.Synonym{Name: key.Name, Source: source}
	if !key.Sensitive() {
		s.Value = &text
	}
	return s
}

// Describe answers DescribeConfigs for this broker: Kafka's keys in alphabetical order, all of them when names is empty,
// names that do not exist left out. Every entry is read-only as long as a running broker cannot be reconfigured.
func (v Values) Describe(names []string) []configdef.Entry {
	var entries []configdef.Entry
	for _, key := range Keys() {
		if len(names) > 0 && !slices.Contains(names, key.Name) {
			continue
		}
		entries = append(entries, v.entry(key))
	}
	return entries
}

func (v Values) entry(key Key) configdef.Entry {
	entry := configdef.Entry{
		Name: key.Name, Type: key.Type, Doc: key.Doc, ReadOnly: true, Sensitive: key.Sensitive(),
		Source: configdef.SourceDefault, Synonyms: v.Synonyms(key.Name),
	}
	if value, ok := v.Lookup(key.Name); ok && !entry.Sensitive {
		text := value.Text()
		entry.Value = &text
	}
	if len(entry.Synonyms) > 0 {
		entry.Source = entry.Synonyms[0].Source
	}
	return entry
}
