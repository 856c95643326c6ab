package topicconfig

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kaas-rs/kaas/kaas-broker/config"
	"github.com/kaas-rs/kaas/kaas-broker/config/configdef"
)

// Operation is what a change does to a key; its numbers are those of IncrementalAlterConfigs (KIP-339).
type Operation int8

// The operations of IncrementalAlterConfigs.
const (
	OperationSet      Operation = 0
	OperationDelete   Operation = 1
	OperationAppend   Operation = 2
	OperationSubtract Operation = 3
)

// Change is one change of one key.
type Change struct {
	Name      string
	Operation Operation
	// Value is ignored by OperationDelete and must not be nil otherwise.
	Value *string
}

// ErrBadRequest means that the changes themselves make no sense, whatever their values: a key named twice, a missing
// value, an unknown operation. Kafka answers INVALID_REQUEST.
var ErrBadRequest = errors.New("bad request")

// ErrNotList means that OperationAppend or OperationSubtract named a key that is no list. Kafka answers INVALID_CONFIG.
var ErrNotList = errors.New("not a list")

// Apply returns the topic's own values after all changes, or an error and none of them. It follows Kafka's
// ConfigurationControlManager: deleting an unknown key is no error, appending and subtracting start from what holds now, an
// element is never there twice. Other errors are those of Validate.
func Apply(broker config.Values, current map[string]string, changes []Change) (map[string]string, error) {
	if err := checkRequest(changes); err != nil {
		return nil, err
	}
	next := maps.Clone(current)
	if next == nil {
		next = map[string]string{}
	}
	for _, change := range changes {
		if change.Operation == OperationDelete {
			delete(next, change.Name)
			continue
		}
		key, err := Lookup(change.Name)
		if err != nil {
			return nil, err
		}
		if next[key.Name], err = key.changed(broker, current, change); err != nil {
			return nil, err
		}
	}
	if err := Validate(broker, next); err != nil {
		return nil, err
	}
	return next, nil
}

func checkRequest(changes []Change) error {
	named := map[string]bool{}
	for _, change := range changes {
		switch {
		case named[change.Name]:
			return fmt.Errorf("%w: %s is named twice", ErrBadRequest, change.Name)
		case change.Operation < OperationSet || change.Operation > OperationSubtract:
			return fmt.Errorf("%w: operation %d of %s is unknown", ErrBadRequest, change.Operation, change.Name)
		case change.Operation != OperationDelete && change.Value == nil:
			return fmt.Errorf("%w: %s has no value", ErrBadRequest, change.Name)
		}
		named[change.Name] = true
	}
	return nil
}

// changed returns the text of the key after one change.
func (k Key) changed(broker config.Values, current map[string]string, change Change) (string, error) {
	if change.Operation == OperationSet {
		return *change.Value, nil
	}
	if err := checkLength(k.Name, *change.Value); err != nil {
		return "", err // before each of its elements is looked for
	}
	if k.Type != configdef.TypeList {
		return "", fmt.Errorf("%w: %s takes one value, so nothing can be appended or subtracted", ErrNotList, k.Name)
	}
	own, _ := parseAll(current)
	list := resolver{broker: broker, own: own}.value(k.Name).List()
	for _, element := range strings.Split(*change.Value, ",") {
		element = strings.TrimSpace(element)
		at := slices.Index(list, element)
		switch {
		case change.Operation == OperationAppend && at < 0:
			list = append(list, element)
		case change.Operation == OperationSubtract && at >= 0:
			list = slices.Delete(list, at, at+1)
		}
	}
	return strings.Join(list, ","), nil
}
