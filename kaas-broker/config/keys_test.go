package config_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/kaas-rs/kaas/kaas-broker/config"
	"github.com/kaas-rs/kaas/kaas-broker/config/configdef"
)

// deviations are the defaults that kaas chooses otherwise; nil is null.
var deviations = map[string]*string{
	"log.flush.interval.messages":    text("1"),
	"log.cleaner.dedupe.buffer.size": text("16777216"),
	"listeners":                      text("PLAINTEXT://127.0.0.1:9092"),
	"log.dir":                        nil,
	"broker.id":                      text("0"),
	"node.id":                        text("0"),
	"socket.send.buffer.bytes":       text("262144"),
}

func text(s string) *string { return &s }

func same(a, b *string) bool {
	return (a == nil) == (b == nil) && (a == nil || *a == *b)
}

type recordedKey struct {
	Name, Type         string
	Default            *string
	Dynamic, Sensitive bool
}

func recordedKeys(t *testing.T) []recordedKey {
	t.Helper()
	data, err := os.ReadFile("testdata/kafka-3.7.2-broker.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []recordedKey
	if err := json.Unmarshal(data, &rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

// defaultOf is a key's default as DescribeConfigs shows it, nil for null.
func defaultOf(key config.Key) *string {
	if key.NoDefault {
		return nil
	}
	return &key.Default
}

func TestKeysAreKafkas(t *testing.T) {
	rows, keys := recordedKeys(t), config.Keys()
	if len(rows) != 285 || len(keys) != 285 {
		t.Fatalf("%d keys and %d recorded, want 285", len(keys), len(rows))
	}
	for i, row := range rows {
		key, want := keys[i], row.Default
		if ours, ok := deviations[row.Name]; ok {
			want = ours
		}
		if key.Name != row.Name || key.Type.String() != row.Type || key.Dynamic != row.Dynamic || key.Sensitive() != row.Sensitive || !same(defaultOf(key), want) {
			t.Errorf("key %+v, recorded %+v", key, row)
		}
		if key.Doc == "" {
			t.Errorf("%s is not documented", key.Name)
		}
		if key.NoDefault {
			continue
		}
		if value, err := key.Parse(key.Default); err != nil || value.Text() != key.Default {
			t.Errorf("default %q of %s reads as %q, %v", key.Default, key.Name, value.Text(), err)
		}
	}
}

func TestVariablesAreUnique(t *testing.T) {
	seen := map[string]string{}
	for _, key := range config.Keys() {
		variable := config.Variable(key.Name)
		if other, twice := seen[variable]; twice {
			t.Errorf("%s and %s share %s", key.Name, other, variable)
		}
		seen[variable] = key.Name
	}
	if got := config.Variable("kaas.data.dir"); got != "KAAS_DATA_DIR" {
		t.Error(got)
	}
}

func TestDescribeOfAnUntouchedBroker(t *testing.T) {
	entries := (config.Values{}).Describe(nil)
	if len(entries) != 285 {
		t.Fatalf("%d entries", len(entries))
	}
	for _, entry := range entries {
		if entry.Source != configdef.SourceDefault || !entry.ReadOnly {
			t.Errorf("%+v", entry)
		}
		if entry.Sensitive && entry.Value != nil {
			t.Errorf("%s shows its value", entry.Name)
		}
		if strings.HasPrefix(entry.Name, "kaas.") {
			t.Errorf("%s is no key of Kafka", entry.Name)
		}
	}
}

// Sources and synonyms recorded from Kafka 3.7.2 with the same settings.
func TestDescribeSources(t *testing.T) {
	c := load(t, nil, nil, "log.retention.hours=100\nlog.retention.minutes=6001\nlog.roll.hours=50\nlog.flush.interval.ms=5000\n"+
		"log.flush.scheduler.interval.ms=7000\nlog.dirs=/d\nssl.key.password=secret\nnode.id=4\n")
	cases := []struct {
		name, value string
		source      configdef.Source
		synonyms    []string
	}{
		{"log.retention.ms", "<null>", configdef.SourceDefault, nil},
		{"log.retention.minutes", "6001", configdef.SourceStaticBroker, []string{
			"STATIC_BROKER_CONFIG:log.retention.minutes=6001", "STATIC_BROKER_CONFIG:log.retention.hours=100", "DEFAULT_CONFIG:log.retention.hours=168",
		}},
		{"log.retention.hours", "100", configdef.SourceStaticBroker, []string{
			"STATIC_BROKER_CONFIG:log.retention.hours=100", "DEFAULT_CONFIG:log.retention.hours=168",
		}},
		{"log.roll.ms", "<null>", configdef.SourceDefault, nil},
		{"log.flush.interval.ms", "5000", configdef.SourceStaticBroker, []string{
			"STATIC_BROKER_CONFIG:log.flush.interval.ms=5000", "STATIC_BROKER_CONFIG:log.flush.scheduler.interval.ms=7000",
			"DEFAULT_CONFIG:log.flush.scheduler.interval.ms=9223372036854775807",
		}},
		{"log.flush.interval.messages", "1", configdef.SourceDefault, []string{"DEFAULT_CONFIG:log.flush.interval.messages=1"}},
		{"log.dirs", "/d", configdef.SourceStaticBroker, []string{"STATIC_BROKER_CONFIG:log.dirs=/d"}},
		{"broker.id", "4", configdef.SourceStaticBroker, []string{"STATIC_BROKER_CONFIG:broker.id=4", "DEFAULT_CONFIG:broker.id=0"}},
		{"ssl.key.password", "<null>", configdef.SourceStaticBroker, []string{"STATIC_BROKER_CONFIG:ssl.key.password=<null>"}},
		{"log.cleaner.io.max.bytes.per.second", "1.7976931348623157E308", configdef.SourceDefault, []string{
			"DEFAULT_CONFIG:log.cleaner.io.max.bytes.per.second=1.7976931348623157E308",
		}},
	}
	for _, want := range cases {
		t.Run(want.name, func(t *testing.T) {
			entry := c.Values.Describe([]string{want.name, "no.such.key"})[0]
			var synonyms []string
			for _, s := range entry.Synonyms {
				synonyms = append(synonyms, s.Source.String()+":"+s.Name+"="+orNull(s.Value))
			}
			if orNull(entry.Value) != want.value || entry.Source != want.source || !slices.Equal(synonyms, want.synonyms) {
				t.Errorf("got %s %s %q", orNull(entry.Value), entry.Source, synonyms)
			}
		})
	}
}

func orNull(s *string) string {
	if s == nil {
		return "<null>"
	}
	return *s
}
