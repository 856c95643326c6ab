package catalog

import (
	"errors"
	"fmt"
	"strings"
)

// maxNameLength is the longest topic name, in bytes.
const maxNameLength = 249

// What is wrong with a topic's name.
var (
	// ErrInvalidName: the name breaks Kafka's rules for topic names (INVALID_TOPIC_EXCEPTION).
	ErrInvalidName = errors.New("invalid topic name")
	// ErrReservedName: the name is Kafka's own metadata log's (TOPIC_AUTHORIZATION_FAILED, as a Kafka controller answers).
	ErrReservedName = errors.New("topic name is reserved")
)

// metadataTopic is the name of Kafka's metadata log, which clients know and nobody may create.
const metadataTopic = "__cluster_metadata"

// ValidateName checks a name by the rules of Kafka's Topic.validate: 1 to 249 characters out of letters, digits, '.', '_' and '-', and
// neither "." nor "..". The error wraps ErrInvalidName or ErrReservedName and says what is wrong.
func ValidateName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%w: it is empty", ErrInvalidName)
	case name == "." || name == "..":
		return fmt.Errorf("%w: %q has a meaning of its own as a file name", ErrInvalidName, name)
	case len(name) > maxNameLength:
		return fmt.Errorf("%w: it has %d characters, the longest allowed has %d", ErrInvalidName, len(name), maxNameLength)
	case name == metadataTopic:
		return fmt.Errorf("%w: %s", ErrReservedName, name)
	}
	for i := range len(name) {
		if !nameByte(name[i]) {
			return fmt.Errorf("%w: %q has a character other than letters, digits, '.', '_' and '-'", ErrInvalidName, name)
		}
	}
	return nil
}

func nameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-'
}

// Fold maps names that Kafka's metric names cannot tell apart to one text: dots become underscores.
func Fold(name string) string { return strings.ReplaceAll(name, ".", "_") }

// IsInternal says whether Kafka treats a topic of this name as its own (Topic.isInternal).
func IsInternal(name string) bool {
	return name == "__consumer_offsets" || name == "__transaction_state"
}
