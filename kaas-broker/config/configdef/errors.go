package configdef

import (
	"errors"
	"fmt"
)

// ErrInvalidValue is what every ValueError is.
var ErrInvalidValue = errors.New("invalid configuration value")

// ErrUnknownKey is what every UnknownKeyError is.
var ErrUnknownKey = errors.New("unknown configuration key")

// ValueError is a value that its key does not accept.
type ValueError struct {
	// Name is the key.
	Name string
	// Value is what was refused: the whole value, or the element of a list.
	Value string
	// Reason says which values are accepted.
	Reason string
}

// Error has the form of Kafka's ConfigException.
func (e *ValueError) Error() string {
	return fmt.Sprintf("Invalid value %s for configuration %s: %s", e.Value, e.Name, e.Reason)
}

// Unwrap returns ErrInvalidValue.
func (e *ValueError) Unwrap() error { return ErrInvalidValue }

// UnknownKeyError is a key that does not exist.
type UnknownKeyError struct {
	// Kind is what the key would configure, for the message: "topic" or "broker".
	Kind string
	// Name is the key as given.
	Name string
	// Nearest is the known key that looks most like it, empty when none does.
	Nearest string
}

// Error names the key and the nearest known one.
func (e *UnknownKeyError) Error() string {
	message := fmt.Sprintf("Unknown %s config name: %s", e.Kind, e.Name)
	if e.Nearest != "" {
		message += fmt.Sprintf(" (did you mean %s?)", e.Nearest)
	}
	return message
}

// Unwrap returns ErrUnknownKey.
func (e *UnknownKeyError) Unwrap() error { return ErrUnknownKey }
