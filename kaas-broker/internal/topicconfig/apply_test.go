package topicconfig_test

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/kaas-rs/kaas/kaas-broker/config"
	"github.com/kaas-rs/kaas/kaas-broker/config/configdef"
	"github.com/kaas-rs/kaas/kaas-broker/internal/topicconfig"
)

func change(name string, operation topicconfig.Operation, value string) topicconfig.Change {
	return topicconfig.Change{Name: name, Operation: operation, Value: &value}
}

func TestApply(t *testing.T) {
	const set, remove, add, subtract = topicconfig.OperationSet, topicconfig.OperationDelete,
		topicconfig.OperationAppend, topicconfig.OperationSubtract
	current := map[string]string{"retention.ms": "5", "cleanup.policy": "compact"}
	cases := []struct {
		name    string
		changes []topicconfig.Change
		want    map[string]string
		err     error
	}{
		{"nothing", nil, current, nil},
		{
			"set and delete",
			[]topicconfig.Change{change("segment.bytes", set, "100"), {Name: "retention.ms", Operation: remove}},
			map[string]string{"segment.bytes": "100", "cleanup.policy": "compact"},
			nil,
		},
		{"delete what is not set", []topicconfig.Change{{Name: "segment.ms", Operation: remove}}, current, nil},
		{"delete what does not exist", []topicconfig.Change{{Name: "no.such", Operation: remove}}, current, nil},
		{
			"append",
			[]topicconfig.Change{change("cleanup.policy", add, " delete ")},
			map[string]string{"retention.ms": "5", "cleanup.policy": "compact,delete"},
			nil,
		},
		{"append what is there", []topicconfig.Change{change("cleanup.policy", add, "compact")}, current, nil},
		{"append starts from the default", []topicconfig.Change{{Name: "cleanup.policy", Operation: remove}}, map[string]string{"retention.ms": "5"}, nil},
		{
			"subtract to nothing",
			[]topicconfig.Change{change("cleanup.policy", subtract, "compact,delete")},
			map[string]string{"retention.ms": "5", "cleanup.policy": ""},
			nil,
		},
		{"append to a number", []topicconfig.Change{change("retention.ms", add, "5")}, nil, topicconfig.ErrNotList},
		{"append a wrong word", []topicconfig.Change{change("cleanup.policy", add, "shred")}, nil, configdef.ErrInvalidValue},
		{"set what does not exist", []topicconfig.Change{change("no.such", set, "1")}, nil, configdef.ErrUnknownKey},
		{"one wrong value undoes all", []topicconfig.Change{change("segment.bytes", set, "100"), change("retention.ms", set, "x")}, nil, configdef.ErrInvalidValue},
		{"null", []topicconfig.Change{{Name: "retention.ms", Operation: set}}, nil, topicconfig.ErrBadRequest},
		{"twice", []topicconfig.Change{change("retention.ms", set, "1"), {Name: "retention.ms", Operation: remove}}, nil, topicconfig.ErrBadRequest},
		{"unknown operation", []topicconfig.Change{change("retention.ms", 9, "1")}, nil, topicconfig.ErrBadRequest},
		{
			"lag bounds that cross",
			[]topicconfig.Change{change("min.compaction.lag.ms", set, "9"), change("max.compaction.lag.ms", set, "8")},
			nil, configdef.ErrInvalidValue,
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			before := maps.Clone(current)
			got, err := topicconfig.Apply(config.Values{}, current, c.changes)
			if !errors.Is(err, c.err) || (c.err == nil && !maps.Equal(got, c.want)) {
				t.Errorf("got %v, %v; want %v, %v", got, err, c.want, c.err)
			}
			if !maps.Equal(before, current) {
				t.Error("the current values were changed")
			}
		})
	}
}

func TestAppendStartsFromTheBrokersDefault(t *testing.T) {
	got, err := topicconfig.Apply(brokerWith(t, "log.cleanup.policy=compact"), nil,
		[]topicconfig.Change{change("cleanup.policy", topicconfig.OperationAppend, "delete")})
	if err != nil || got["cleanup.policy"] != "compact,delete" {
		t.Errorf("got %v, %v", got, err)
	}
}

// A list may grow by each change, up to what a text on the wire may have.
func TestAppendHasAnEnd(t *testing.T) {
	const name = "leader.replication.throttled.replicas"
	pairs := func(from, to int) string {
		var text strings.Builder
		for i := from; i < to; i++ {
			fmt.Fprintf(&text, "%s%d:1", strings.Repeat(",", min(i-from, 1)), i)
		}
		return text.String()
	}
	current := map[string]string{}
	for from := 0; ; from += 1000 {
		next, err := topicconfig.Apply(config.Values{}, current, []topicconfig.Change{change(name, topicconfig.OperationAppend, pairs(from, from+1000))})
		if err != nil {
			if !errors.Is(err, configdef.ErrInvalidValue) || len(current[name]) < 20_000 || len(err.Error()) > 1000 {
				t.Errorf("at %d bytes: %v", len(current[name]), err)
			}
			break
		}
		if current = next; len(current[name]) > 1<<15 {
			t.Fatalf("%d bytes", len(current[name]))
		}
	}
	for _, operation := range []topicconfig.Operation{topicconfig.OperationSet, topicconfig.OperationAppend, topicconfig.OperationSubtract} {
		_, err := topicconfig.Apply(config.Values{}, current, []topicconfig.Change{change(name, operation, pairs(0, 500_000))})
		if !errors.Is(err, configdef.ErrInvalidValue) || len(err.Error()) > 1000 {
			t.Errorf("operation %d with half a million elements: %T", operation, err)
		}
	}
}
