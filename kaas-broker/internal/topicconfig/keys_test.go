package topicconfig_test

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/kaas-rs/kaas/kaas-broker/config"
	"github.com/kaas-rs/kaas/kaas-broker/config/configdef"
	"github.com/kaas-rs/kaas/kaas-broker/internal/topicconfig"
)

func recorded(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

// deviations are the defaults that kaas chooses otherwise.
var deviations = map[string]string{"flush.messages": "1"}

func TestKeysAreKafkas(t *testing.T) {
	var rows []struct {
		Name, Type, Default string
		Synonyms            []string
	}
	recorded(t, "kafka-3.7.2-topic.json", &rows)
	keys := topicconfig.Keys()
	if len(keys) != 31 || len(rows) != 31 {
		t.Fatalf("%d keys and %d recorded, want 31", len(keys), len(rows))
	}
	for i, row := range rows {
		key := keys[i]
		want := row.Default
		if ours, ok := deviations[row.Name]; ok {
			want = ours
		}
		if key.Name != row.Name || key.Type.String() != row.Type || key.Default != want {
			t.Errorf("key %s %s %q, recorded %s %s %q", key.Name, key.Type, key.Default, row.Name, row.Type, want)
		}
		if _, err := key.Parse(key.Default); err != nil {
			t.Errorf("default of %s: %v", key.Name, err)
		}
		if key.Doc == "" {
			t.Errorf("%s is not documented", key.Name)
		}
	}
}

// The recorded synonyms are those of a broker that was told nothing.
func TestDescribeOfAnUntouchedTopicIsKafkas(t *testing.T) {
	var rows []struct {
		Name, Default string
		Synonyms      []string
	}
	recorded(t, "kafka-3.7.2-topic.json", &rows)
	entries := topicconfig.Describe(config.Values{}, nil, nil)
	for i, row := range rows {
		entry := entries[i]
		var names []string
		for _, synonym := range entry.Synonyms {
			names = append(names, synonym.Name)
			if synonym.Source != configdef.SourceDefault {
				t.Errorf("%s: synonym %s has source %s", row.Name, synonym.Name, synonym.Source)
			}
		}
		want := row.Default
		if ours, ok := deviations[row.Name]; ok {
			want = ours
		}
		if entry.Name != row.Name || *entry.Value != want || !slices.Equal(names, row.Synonyms) || entry.Source != configdef.SourceDefault {
			t.Errorf("%s = %s %v %s, recorded %s = %s %v", entry.Name, *entry.Value, names, entry.Source, row.Name, want, row.Synonyms)
		}
	}
}

// lenient are values that Kafka accepts and kaas does not: forms of numbers that only Java has, and NaN.
var lenient = map[string][]string{"min.cleanable.dirty.ratio": {"NaN", "1d"}}

// A battery of values was offered to Kafka; kaas takes and refuses the same ones, for the same reason.
func TestValuesAreJudgedAsKafkaJudges(t *testing.T) {
	var rows []valueRow
	recorded(t, "kafka-3.7.2-values.json", &rows)
	for _, row := range rows {
		skip := false
		for name, value := range row.Config {
			skip = skip || slices.Contains(lenient[name], value)
		}
		if skip {
			continue
		}
		err := topicconfig.Validate(config.Values{}, row.Config)
		if (err != nil) != (row.Code == 40) {
			t.Errorf("%v: %v, but Kafka answered %d %q", row.Config, err, row.Code, row.Message)
			continue
		}
		if err != nil && !sameSense(err, row.Message) {
			t.Errorf("%v: message %q, but Kafka's is %q", row.Config, err, row.Message)
		}
	}
}

// sameSense compares messages word for word except where kaas has its own words.
func sameSense(err error, kafka string) bool {
	var value *configdef.ValueError
	own := errors.As(err, &value) && slices.Contains([]string{
		"leader.replication.throttled.replicas", "follower.replication.throttled.replicas", "remote.storage.enable", "min.compaction.lag.ms",
	}, value.Name)
	return own || err.Error() == kafka || errors.Is(err, configdef.ErrUnknownKey)
}

func TestUnknownKeyNamesTheNearest(t *testing.T) {
	for name, nearest := range map[string]string{
		"retention.msx": "retention.ms", "RETENTION_MS": "retention.ms", "cleanup.polcy": "cleanup.policy",
		"segment.byte": "segment.bytes", "zzzz": "",
	} {
		var unknown *configdef.UnknownKeyError
		if _, err := topicconfig.Lookup(name); !errors.As(err, &unknown) || unknown.Nearest != nearest {
			t.Errorf("%s: %v, want nearest %q", name, err, nearest)
		}
	}
}
