package config

import "time"

// Mode says where a broker keeps its data.
type Mode string

const (
	// ModeDev keeps everything in memory: nothing survives the process.
	ModeDev Mode = "dev"
	// ModeSingle keeps everything in a data directory of this one broker.
	ModeSingle Mode = "single"
)

// MemorySegmentBytes is the most that a segment takes in dev mode, whatever is set: memory is given back segment by segment.
const MemorySegmentBytes = 16 << 20

// Config is the checked configuration of one process. Treat it as read-only: goroutines share it.
type Config struct {
	Mode Mode
	// DataDir holds the topics; empty in dev mode.
	DataDir string
	// ClusterDir holds what is not a topic's data; empty in dev mode, by default __cluster inside DataDir.
	ClusterDir string
	// BrokerID is what clients know this broker by; 0 or more.
	BrokerID int32
	// Rack is told to clients in Metadata; empty when there is none.
	Rack string
	// Listeners has at least one element; names and non-zero ports are unique.
	Listeners []Listener
	Health    Health
	Log       Log
	Network   Network
	Topics    Topics
	Fetch     Fetch
	Groups    Groups
	// Transactions is about transactional producers.
	Transactions Transactions
	Storage      Storage
	// ProducerIDExpiration is how long an idle producer's sequence state is kept.
	ProducerIDExpiration time.Duration
	// Values are all of Kafka's broker keys, for DescribeConfigs and as the defaults of topic configurations.
	Values Values
	// Warnings are for the log at start, in the order of the sources.
	Warnings []Warning
}

// Listener returns the listener of that name, compared without regard to case.
func (c *Config) Listener(name string) (Listener, bool) {
	return findListener(c.Listeners, name)
}

// Health is the HTTP listener of /healthz and /readyz.
type Health struct {
	// Address is host:port; empty turns the listener off.
	Address string
	// MayMove is true when nobody chose the address: a free port may be taken instead of a busy one.
	MayMove bool
	// Profiles serves Go's profiles there too.
	Profiles bool
}

// Log says what is logged and how.
type Log struct {
	// Level is trace, debug, info, warn or error.
	Level string
	// Format is text, json, or auto (text on a terminal, JSON otherwise).
	Format string
}

// Network limits what connections may take. The math.MaxInt32 of Kafka's defaults means no limit.
type Network struct {
	MaxConnections            int
	MaxConnectionsPerIP       int
	MaxConnectionsPerIPByHost map[string]int
	// MaxConnectionCreationRate is connections per second.
	MaxConnectionCreationRate int
	// MaxIdle closes a connection without requests; negative never does.
	MaxIdle time.Duration
	// MaxRequestBytes is the largest frame; larger ones close the connection.
	MaxRequestBytes int
	// SendBufferBytes is each connection's send buffer in the kernel; below 1 means the system's.
	SendBufferBytes int
	// MaxQueuedBytes bounds the Produce requests in memory over all connections; negative means the server's own bound.
	MaxQueuedBytes int64
}

// Topics is about creating and deleting topics.
type Topics struct {
	// AutoCreate lets Metadata requests create the topics they name.
	AutoCreate bool
	// DeleteEnabled lets DeleteTopics delete.
	DeleteEnabled bool
	// Partitions is the count for topics that do not name one; 1 or more.
	Partitions int32
}

// Fetch is about consumers.
type Fetch struct {
	// MaxBytes bounds the records of one response, above what a request asks for.
	MaxBytes int
	// SessionSlots is how many incremental fetch sessions (KIP-227) are kept; 0 turns them off.
	SessionSlots int
}

// Groups is about consumer groups and their offsets.
type Groups struct {
	// MinSessionTimeout and MaxSessionTimeout bound what members may ask for.
	MinSessionTimeout, MaxSessionTimeout time.Duration
	// InitialRebalanceDelay is the time for more members to come when the first has joined.
	InitialRebalanceDelay time.Duration
	// MaxSize is how many members a group may have.
	MaxSize int
	// OffsetRetention is how long offsets are kept that nobody uses.
	OffsetRetention time.Duration
	// OffsetCheckInterval is the time between two looks for such offsets.
	OffsetCheckInterval time.Duration
	// MaxOffsetMetadata is how many letters of metadata an offset may have; 0 or less: none.
	MaxOffsetMetadata int
}

// Transactions is about transactional producers and their ids.
type Transactions struct {
	// MaxTimeout is the longest timeout of a transaction that a producer may ask for.
	MaxTimeout time.Duration
	// CheckInterval is the time between two looks for transactions that have timed out.
	CheckInterval time.Duration
	// IDExpiration is how long an id without a transaction is kept.
	IDExpiration time.Duration
	// IDCheckInterval is the time between two looks for such ids.
	IDCheckInterval time.Duration
	// Verify makes partitions ask the coordinator before they take the first records of a transaction.
	Verify bool
}

// Storage is about the log engine as a whole; per-topic settings come from Values.
type Storage struct {
	// RetentionInterval is the time between retention sweeps; 0 turns them off.
	RetentionInterval time.Duration
	// CompactionInterval is the time between two looks for what is to be compacted; negative turns compaction off.
	CompactionInterval time.Duration
	// CompactionMemory is how many bytes one compaction may take for the keys.
	CompactionMemory int
	// FsyncDeadline ends the epoch of a partition whose file operation takes longer; 0 waits for ever.
	FsyncDeadline time.Duration
	// ReserveBytes is the size of the file given up when a volume is full; 0 keeps none.
	ReserveBytes int64
	// MemoryBytes is the budget of dev mode; 0 lets the broker choose by the machine's memory.
	MemoryBytes int64
}

// Warning is something that starts all the same but that its author should know.
type Warning struct {
	// Origin is where the setting was found.
	Origin Origin
	// Key is the property, or the variable when it stands for none.
	Key string
	// Message is one sentence without the key and origin.
	Message string
}

// String returns the warning as one line.
func (w Warning) String() string { return w.Origin.String() + ": " + w.Key + " " + w.Message }
