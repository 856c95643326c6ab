package v1alpha1

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// ErrConfigSpelling means that a key of spec.config stands there twice, in two spellings.
var ErrConfigSpelling = errors.New("config key in two spellings")

// TopicConfig is spec.config as its author wrote it. A key may be spelled as Kafka does (retention.ms) or, where
// [ConfigFields] has it, as a field (retentionMs); one spelling per key. Values may be texts, numbers or booleans and keep
// their form when they are written again. Which keys and values are valid is not decided here.
type TopicConfig map[string]ConfigValue

// configFields maps the field spelling to Kafka's.
var configFields = map[string]string{
	"retentionMs":        "retention.ms",
	"retentionBytes":     "retention.bytes",
	"segmentBytes":       "segment.bytes",
	"segmentMs":          "segment.ms",
	"cleanupPolicy":      "cleanup.policy",
	"minCompactionLagMs": "min.compaction.lag.ms",
	"deleteRetentionMs":  "delete.retention.ms",
	"flushMessages":      "flush.messages",
}

// ConfigFields returns the field spellings and Kafka's name of each, a fresh copy.
func ConfigFields() map[string]string {
	fields := make(map[string]string, len(configFields))
	for field, name := range configFields {
		fields[field] = name
	}
	return fields
}

// Overrides returns the configuration under Kafka's names; null values are left out. The error wraps
// ErrConfigSpelling for each key that stands there twice.
func (c TopicConfig) Overrides() (map[string]string, error) {
	spelled := make([]string, 0, len(c))
	for name := range c {
		spelled = append(spelled, name)
	}
	slices.Sort(spelled)
	overrides := make(map[string]string, len(c))
	seen := make(map[string]string, len(c))
	var problems []error
	for _, name := range spelled {
		kafka := kafkaName(name)
		if other, twice := seen[kafka]; twice {
			problems = append(problems, fmt.Errorf("%w: %s and %s", ErrConfigSpelling, other, name))
			continue
		}
		seen[kafka] = name
		if text, ok := c[name].Text(); ok {
			overrides[kafka] = text
		}
	}
	return overrides, errors.Join(problems...)
}

// SetOverrides makes the configuration say exactly this, given under Kafka's names. Keys that stay keep their spelling, and
// their very form when the value stays; new ones get Kafka's spelling. A nil receiver cannot be changed.
func (c TopicConfig) SetOverrides(overrides map[string]string) {
	kept := make(map[string]bool, len(c))
	for spelled, value := range c {
		kafka := kafkaName(spelled)
		wanted, ok := overrides[kafka]
		if !ok || kept[kafka] {
			delete(c, spelled)
			continue
		}
		kept[kafka] = true
		if text, set := value.Text(); !set || text != wanted {
			c[spelled] = TextValue(wanted)
		}
	}
	for name, text := range overrides {
		if !kept[name] {
			c[name] = TextValue(text)
		}
	}
}

func kafkaName(spelled string) string {
	if name, ok := configFields[spelled]; ok {
		return name
	}
	return spelled
}

// ConfigValue is one value of spec.config: a text, a number, a boolean, or null. The zero value is null.
type ConfigValue struct {
	// encoded is the JSON of the value; empty for null.
	encoded string
}

// TextValue returns the value that is this text.
func TextValue(text string) ConfigValue {
	encoded, err := json.Marshal(text)
	if err != nil {
		return ConfigValue{}
	}
	return ConfigValue{encoded: string(encoded)}
}

// Text returns the value as Kafka's configuration text, false for null.
func (v ConfigValue) Text() (string, bool) {
	switch {
	case v.encoded == "":
		return "", false
	case v.encoded[0] != '"':
		return v.encoded, true
	}
	var text string
	if err := json.Unmarshal([]byte(v.encoded), &text); err != nil {
		return "", false
	}
	return text, true
}

// MarshalJSON writes the value in the form it was read in.
func (v ConfigValue) MarshalJSON() ([]byte, error) {
	if v.encoded == "" {
		return []byte("null"), nil
	}
	return []byte(v.encoded), nil
}

// UnmarshalJSON reads a text, a number, a boolean or null; lists and objects are errors.
func (v *ConfigValue) UnmarshalJSON(data []byte) error {
	data = bytes.TrimSpace(data)
	if len(data) == 0 || data[0] == '[' || data[0] == '{' {
		return errors.New("read config value: want a text, a number or a boolean")
	}
	if bytes.Equal(data, []byte("null")) {
		*v = ConfigValue{}
		return nil
	}
	number, err := plainNumber(data)
	if err != nil {
		return err
	}
	v.encoded = number
	return nil
}

// plainNumber writes out whole numbers that a YAML reader turned into floating point (6.048e+08), which Kafka's
// parsers would refuse; everything else stays as it is.
func plainNumber(data []byte) (string, error) {
	text := string(data)
	if !bytes.ContainsAny(data, "eE") || text[0] == '"' || text == "true" || text == "false" {
		return text, nil
	}
	var number float64
	if err := json.Unmarshal(data, &number); err != nil {
		return "", fmt.Errorf("read config value: %w", err)
	}
	if whole := int64(number); float64(whole) == number {
		return strconv.FormatInt(whole, 10), nil
	}
	return text, nil
}
