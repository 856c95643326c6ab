package brokertest

import (
	"github.com/rs/zerolog"
)

// DefaultMemory is the size in bytes of the file system in memory that a broker keeps its records in.
const DefaultMemory = 64 << 20

// Option is a choice for Start.
type Option func(*settings)

type settings struct {
	memory    int64
	level     zerolog.Level
	verbose   bool
	overrides []string
}

// Config sets a broker property under Kafka's name, for example Config("auto.create.topics.enable", "false"). Start fails the test for a name
// or a value that Kafka would refuse.
func Config(key, value string) Option {
	return func(s *settings) { s.overrides = append(s.overrides, key+"="+value) }
}

// Memory sets how many bytes the broker's files may take, instead of DefaultMemory. When they are used up the broker behaves as with a full disk.
func Memory(bytes int64) Option {
	return func(s *settings) { s.memory = bytes }
}

// Verbose logs everything that the broker says, as it says it, also in tests that pass.
func Verbose() Option {
	return func(s *settings) { s.verbose, s.level = true, zerolog.DebugLevel }
}
