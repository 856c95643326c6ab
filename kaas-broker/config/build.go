package config

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// builder makes the typed Config from values that are valid one by one, and checks them against each other.
type builder struct {
	*settings
	in     Input
	values Values
}

func (b *builder) build() *Config {
	b.refuse()
	c := &Config{
		Mode:                 ModeDev,
		DataDir:              b.dataDir(),
		BrokerID:             b.brokerID(),
		Rack:                 b.text("broker.rack"),
		Health:               b.health(),
		Log:                  Log{Level: b.text(keyLogLevel), Format: b.text(keyLogFormat)},
		Network:              b.network(),
		Topics:               b.topics(),
		Fetch:                Fetch{MaxBytes: b.integer("fetch.max.bytes"), SessionSlots: b.integer("max.incremental.fetch.session.cache.slots")},
		Groups:               b.groups(),
		Transactions:         b.transactions(),
		Storage:              b.storage(),
		ProducerIDExpiration: b.milliseconds("producer.id.expiration.ms"),
	}
	if c.DataDir != "" {
		c.Mode = ModeSingle
	}
	c.ClusterDir = b.clusterDir(c.DataDir)
	c.Health.Profiles = b.values.value(keyDebugProfiles).Bool()
	c.Health.MayMove = c.Mode == ModeDev && !b.values.Set(keyHealthAddr)
	c.Listeners = b.listeners()
	return c
}

// refuse names the keys that ask for protection which this version does not give. Starting without it would be worse
// than not starting.
func (b *builder) refuse() {
	if b.text("authorizer.class.name") != "" {
		b.reject(b.origin("authorizer.class.name"), fmt.Errorf("%w: authorizer.class.name; requests are not authorized", ErrNotServed))
	}
}

// dataDir takes the strongest of the three names; exactly one directory may be meant.
func (b *builder) dataDir() string {
	own, kafka := b.text(keyDataDir), "log.dirs"
	if b.text(kafka) == "" {
		kafka = "log.dir"
	}
	listed := b.text(kafka)
	switch {
	case strings.Contains(own, ","):
		b.rejectValue(keyDataDir, own, "One data directory is supported, without a comma in its name")
		return ""
	case strings.Contains(listed, ","):
		b.rejectValue(kafka, listed, "One data directory is supported")
		return ""
	case own != "" && listed != "" && filepath.Clean(own) != filepath.Clean(listed):
		b.reject(b.origin(keyDataDir), fmt.Errorf("%w: %s and %s name different directories", ErrConflict, keyDataDir, kafka))
	case own == "":
		own = listed
	}
	if own == "" {
		b.requireNoEmpty(keyDataDir, "log.dirs", "log.dir")
		return ""
	}
	return filepath.Clean(own)
}

// requireNoEmpty refuses a directory that was set to nothing: the author of `--data-dir "$DIR"` does not want memory.
func (b *builder) requireNoEmpty(keys ...string) {
	for _, key := range keys {
		if b.values.Set(key) {
			b.rejectValue(key, "", "A directory must be named")
		}
	}
}

func (b *builder) clusterDir(dataDir string) string {
	set := b.text(keyClusterDir)
	switch {
	case dataDir == "" && set != "":
		b.rejectValue(keyClusterDir, set, "It needs a data directory beside it")
		return ""
	case set != "" && amongTopics(dataDir, filepath.Clean(set)):
		b.rejectValue(keyClusterDir, set, "It must not lie where the data directory keeps topics; inside the data directory only "+ClusterName+" is free")
		return ""
	case set != "":
		return filepath.Clean(set)
	case dataDir == "":
		return ""
	default:
		return filepath.Join(dataDir, ClusterName)
	}
}

// ClusterName is the cluster directory in a data directory: the one name there that no topic's directory can have.
const ClusterName = "__cluster"

// amongTopics reports whether a cluster directory is the data directory itself, or lies in it under a name that a topic could have.
func amongTopics(dataDir, clusterDir string) bool {
	inside, err := filepath.Rel(dataDir, clusterDir)
	if err != nil {
		return false // one is relative and the other is not: nothing is known
	}
	first, _, _ := strings.Cut(filepath.ToSlash(inside), "/")
	return first != ".." && first != ClusterName
}

// brokerID is broker.id or node.id; Kafka's -1, "choose for me", becomes 0.
func (b *builder) brokerID() int32 {
	broker, node := b.integer("broker.id"), b.integer("node.id")
	switch {
	case !b.values.Set("broker.id"):
		return int32(max(node, 0))
	case b.values.Set("node.id") && node != broker:
		b.reject(b.origin("node.id"), fmt.Errorf("%w: node.id is %d and broker.id is %d", ErrConflict, node, broker))
	}
	return int32(max(broker, 0))
}

func (b *builder) health() Health {
	text := b.text(keyHealthAddr)
	if text == "off" {
		return Health{}
	}
	host, port, found := cutLast(text, ":")
	if !found {
		host, port = "127.0.0.1", text
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil || !validHost(strings.Trim(host, "[]")) {
		b.rejectValue(keyHealthAddr, text, "Value must be HOST:PORT, PORT or off")
		return Health{}
	}
	return Health{Address: host + ":" + strconv.FormatUint(number, 10)}
}

func cutLast(text, separator string) (before, after string, found bool) {
	at := strings.LastIndex(text, separator)
	if at < 0 {
		return text, "", false
	}
	return text[:at], text[at+len(separator):], true
}

func (b *builder) network() Network {
	return Network{
		MaxConnections:            b.integer("max.connections"),
		MaxConnectionsPerIP:       b.integer("max.connections.per.ip"),
		MaxConnectionsPerIPByHost: b.perHost(),
		MaxConnectionCreationRate: b.integer("max.connection.creation.rate"),
		MaxIdle:                   b.milliseconds("connections.max.idle.ms"),
		MaxRequestBytes:           b.integer("socket.request.max.bytes"),
		SendBufferBytes:           b.integer("socket.send.buffer.bytes"),
		MaxQueuedBytes:            b.values.value("queued.max.request.bytes").Int64(),
	}
}

// perHost reads HOST:COUNT,... ; IPv6 addresses may stand in brackets.
func (b *builder) perHost() map[string]int {
	const key = "max.connections.per.ip.overrides"
	text := b.text(key)
	if text == "" {
		return nil
	}
	limits := map[string]int{}
	for _, entry := range strings.Split(text, ",") {
		host, count, found := cutLast(strings.TrimSpace(entry), ":")
		number, err := strconv.Atoi(strings.TrimSpace(count))
		host = strings.Trim(strings.TrimSpace(host), "[]")
		if !found || err != nil || number < 0 || host == "" {
			b.rejectValue(key, entry, "Entries must be HOST:COUNT")
			continue
		}
		limits[host] = number
	}
	return limits
}

func (b *builder) topics() Topics {
	return Topics{
		AutoCreate:    b.values.value("auto.create.topics.enable").Bool(),
		DeleteEnabled: b.values.value("delete.topic.enable").Bool(),
		Partitions:    int32(b.integer("num.partitions")),
	}
}

func (b *builder) groups() Groups {
	return Groups{
		MinSessionTimeout:     b.milliseconds("group.min.session.timeout.ms"),
		MaxSessionTimeout:     b.milliseconds("group.max.session.timeout.ms"),
		InitialRebalanceDelay: b.milliseconds("group.initial.rebalance.delay.ms"),
		MaxSize:               b.integer("group.max.size"),
		OffsetRetention:       time.Duration(b.integer("offsets.retention.minutes")) * time.Minute,
		OffsetCheckInterval:   b.milliseconds("offsets.retention.check.interval.ms"),
		MaxOffsetMetadata:     b.integer("offset.metadata.max.bytes"),
	}
}

func (b *builder) transactions() Transactions {
	return Transactions{
		MaxTimeout:      b.milliseconds("transaction.max.timeout.ms"),
		CheckInterval:   b.milliseconds("transaction.abort.timed.out.transaction.cleanup.interval.ms"),
		IDExpiration:    b.milliseconds("transactional.id.expiration.ms"),
		IDCheckInterval: b.milliseconds("transaction.remove.expired.transaction.cleanup.interval.ms"),
		Verify:          b.values.value("transaction.partition.verification.enable").Bool(),
	}
}

func (b *builder) storage() Storage {
	return Storage{
		RetentionInterval:  b.milliseconds("log.retention.check.interval.ms"),
		CompactionInterval: b.compactionInterval(),
		CompactionMemory:   int(min(b.values.value("log.cleaner.dedupe.buffer.size").Int64(), math.MaxInt32)),
		FsyncDeadline:      b.milliseconds(keyFsyncDeadline),
		ReserveBytes:       b.values.value(keyReserveBytes).Int64(),
		MemoryBytes:        b.values.value(keyMemoryBytes).Int64(),
	}
}

// compactionInterval is at least a millisecond where compaction is on: for the engine 0 is a default.
func (b *builder) compactionInterval() time.Duration {
	if !b.values.value("log.cleaner.enable").Bool() {
		return -1
	}
	return max(b.milliseconds("log.cleaner.backoff.ms"), time.Millisecond)
}

func (b *builder) text(key string) string { return b.values.value(key).Text() }

func (b *builder) integer(key string) int { return int(b.values.value(key).Int64()) }

func (b *builder) milliseconds(key string) time.Duration { return b.values.value(key).Milliseconds() }

// show puts what was decided under Kafka's names, so that DescribeConfigs tells what holds.
func (b *builder) show(c *Config) {
	given := b.values.given
	if isJSON(given["listeners"].Text()) {
		ends := make([]string, len(c.Listeners))
		for i, l := range c.Listeners {
			ends[i] = endpoint{l.Name, l.Host, l.Port}.String()
		}
		b.tell("listeners", strings.Join(ends, ","))
	}
	if c.DataDir != "" {
		b.tell("log.dirs", c.DataDir)
	}
	if c.Mode == ModeDev && b.values.value(keySegmentBytes).Int64() > MemorySegmentBytes {
		b.tell(keySegmentBytes, strconv.Itoa(MemorySegmentBytes))
	}
	if slices.ContainsFunc([]string{"broker.id", "node.id"}, b.values.Set) {
		b.tell("broker.id", strconv.Itoa(int(c.BrokerID)))
		b.tell("node.id", strconv.Itoa(int(c.BrokerID)))
	}
}

func (b *builder) tell(key, text string) {
	definition, _ := lookup(key)
	if value, err := definition.Parse(text); err == nil {
		b.values.given[key] = value
	}
}
