package topicconfig

import (
	"slices"

	"github.com/kaas-rs/kaas/kaas-broker/config"
	"github.com/kaas-rs/kaas/kaas-broker/config/configdef"
)

// Describe answers DescribeConfigs for a topic with these own values: all keys in alphabetical order when names is empty,
// names that do not exist left out. Own values that are not valid count as not set.
//
// As in Kafka, a topic key whose default comes from the minutes or hours of a broker key shows that value with source
// DEFAULT_CONFIG and without synonyms.
func Describe(broker config.Values, overrides map[string]string, names []string) []configdef.Entry {
	own, _ := parseAll(overrides)
	r := resolver{broker: broker, own: own}
	var entries []configdef.Entry
	for _, key := range keys {
		if len(names) == 0 || slices.Contains(names, key.Name) {
			entries = append(entries, r.entry(key))
		}
	}
	return entries
}

func (r resolver) entry(key Key) configdef.Entry {
	text := r.value(key.Name).Text()
	entry := configdef.Entry{
		Name: key.Name, Value: &text, Type: key.Type, Sensitive: key.Sensitive(), Doc: key.Doc,
		Source: configdef.SourceDefault,
	}
	if _, ok := r.own[key.Name]; ok {
		entry.Synonyms = []configdef.Synonym{{Name: key.Name, Value: &text, Source: configdef.SourceDynamicTopic}}
	}
	if key.Broker != "" {
		entry.Synonyms = append(entry.Synonyms, r.broker.Synonyms(key.Broker)...)
	}
	if len(entry.Synonyms) > 0 {
		entry.Source = entry.Synonyms[0].Source
	}
	return entry
}
