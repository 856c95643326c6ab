package topicconfig

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kaas-rs/kaas/kaas-broker/config"
	"github.com/kaas-rs/kaas/kaas-broker/config/configdef"
	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

// Effective is what holds for one topic: its own configuration over the broker's.
type Effective struct {
	SegmentBytes       int64
	SegmentAge         time.Duration
	IndexIntervalBytes int
	// RetentionAge and RetentionBytes are negative without a limit.
	RetentionAge   time.Duration
	RetentionBytes int64
	// Delete and Compact are the words of cleanup.policy; both may be false.
	Delete, Compact      bool
	DeleteRetention      time.Duration
	MinCompactionLag     time.Duration
	MaxCompactionLag     time.Duration
	MinCleanableRatio    float64
	FlushMessages        int64
	FlushInterval        time.Duration
	MaxMessageBytes      int
	Compression          batch.Compression // batch.KeepCompression for producer
	AppendTime           bool
	TimestampBeforeMaxMs int64 // math.MaxInt64 is no bound
	TimestampAfterMaxMs  int64 // math.MaxInt64 is no bound
	DownConversion       bool
	// ProducerExpiry is the broker's producer.id.expiration.ms.
	ProducerExpiry time.Duration
	// VerifyTransactions is the broker's transaction.partition.verification.enable.
	VerifyTransactions bool
}

// Resolve computes what holds for a topic with these own values. Values that are not valid are left out, so that the
// result is usable even with an error, which joins one error for each of them.
func Resolve(broker config.Values, overrides map[string]string) (Effective, error) {
	own, err := parseAll(overrides)
	r := resolver{broker: broker, own: own}
	e := r.effective()
	if e.MinCompactionLag > e.MaxCompactionLag {
		conflict := &configdef.ValueError{
			Name: "min.compaction.lag.ms", Value: r.value("min.compaction.lag.ms").Text(),
			Reason: fmt.Sprintf("Value must be no more than max.compaction.lag.ms (%s)", r.value("max.compaction.lag.ms").Text()),
		}
		err = errors.Join(err, conflict)
	}
	return e, err
}

// Validate says whether a topic may be given these own values. The errors are *configdef.UnknownKeyError and
// *configdef.ValueError, joined when there are several.
func Validate(broker config.Values, overrides map[string]string) error {
	_, err := Resolve(broker, overrides)
	return err
}

// parseAll parses what can be parsed and joins the errors of the rest, in the order of the keys' names.
func parseAll(overrides map[string]string) (map[string]configdef.Value, error) {
	names := make([]string, 0, len(overrides))
	for name := range overrides {
		names = append(names, name)
	}
	slices.Sort(names)
	parsed := make(map[string]configdef.Value, len(names))
	var problems []error
	for _, name := range names {
		key, err := Lookup(name)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		if err := checkLength(name, overrides[name]); err != nil {
			problems = append(problems, err)
			continue
		}
		value, err := key.Parse(overrides[name])
		if err != nil {
			problems = append(problems, err)
			continue
		}
		parsed[name] = value
	}
	return parsed, errors.Join(problems...)
}

type resolver struct {
	broker config.Values
	own    map[string]configdef.Value
}

func (r resolver) effective() Effective {
	policy := r.value("cleanup.policy").List()
	return Effective{
		SegmentBytes:         r.value("segment.bytes").Int64(),
		SegmentAge:           r.duration("segment.ms"),
		IndexIntervalBytes:   int(r.value("index.interval.bytes").Int64()),
		RetentionAge:         r.duration("retention.ms"),
		RetentionBytes:       r.value("retention.bytes").Int64(),
		Delete:               slices.Contains(policy, "delete"),
		Compact:              slices.Contains(policy, "compact"),
		DeleteRetention:      r.duration("delete.retention.ms"),
		MinCompactionLag:     r.duration("min.compaction.lag.ms"),
		MaxCompactionLag:     r.duration("max.compaction.lag.ms"),
		MinCleanableRatio:    r.value("min.cleanable.dirty.ratio").Float64(),
		FlushMessages:        r.value("flush.messages").Int64(),
		FlushInterval:        r.duration("flush.ms"),
		MaxMessageBytes:      int(r.value("max.message.bytes").Int64()),
		Compression:          compression(r.value("compression.type").Text()),
		AppendTime:           r.value("message.timestamp.type").Text() == "LogAppendTime",
		TimestampBeforeMaxMs: r.timestampBound("message.timestamp.before.max.ms"),
		TimestampAfterMaxMs:  r.timestampBound("message.timestamp.after.max.ms"),
		DownConversion:       r.value("message.downconversion.enable").Bool(),
		ProducerExpiry:       r.producerExpiry(),
		VerifyTransactions:   r.verifyTransactions(),
	}
}

// value returns the topic's own value, else the broker's, else the key's default.
func (r resolver) value(name string) configdef.Value {
	if value, ok := r.own[name]; ok {
		return value
	}
	key, err := Lookup(name)
	if err != nil {
		return configdef.Value{}
	}
	text, ok := brokerDefault(r.broker, key)
	if !ok {
		text = key.Default
	}
	value, err := key.Parse(text)
	if err != nil {
		value, _ = key.Parse(key.Default)
	}
	return value
}

// brokerDefault walks the chain of the key's broker key and gives the first value found in the unit of the topic key.
func brokerDefault(broker config.Values, key Key) (string, bool) {
	if key.Broker == "" {
		return "", false
	}
	for _, member := range config.Chain(key.Broker) {
		value, ok := broker.Lookup(member)
		if !ok {
			continue
		}
		if unit := unitMs(member); unit > 1 {
			return inMilliseconds(value.Int64(), unit), true
		}
		return value.Text(), true
	}
	return "", false
}

// unitMs is how many milliseconds the unit in the name of a broker key has.
func unitMs(name string) int64 {
	switch {
	case strings.HasSuffix(name, ".minutes"):
		return 60_000
	case strings.HasSuffix(name, ".hours"):
		return 3_600_000
	default:
		return 1
	}
}

// inMilliseconds keeps a negative duration, which means "without end", at -1.
func inMilliseconds(count, unit int64) string {
	if count < 0 {
		return "-1"
	}
	return strconv.FormatInt(count*unit, 10)
}

// timestampBound follows Kafka: the older common limit counts where the newer one is at its default.
func (r resolver) timestampBound(name string) int64 {
	if bound := r.value(name).Int64(); bound != math.MaxInt64 {
		return bound
	}
	return r.value("message.timestamp.difference.max.ms").Int64()
}

func (r resolver) duration(name string) time.Duration {
	return r.value(name).Milliseconds()
}

func (r resolver) producerExpiry() time.Duration {
	value, _ := r.broker.Lookup("producer.id.expiration.ms")
	return value.Milliseconds()
}

func (r resolver) verifyTransactions() bool {
	value, _ := r.broker.Lookup("transaction.partition.verification.enable")
	return value.Bool()
}

// compression is the codec that a valid compression.type names.
func compression(name string) batch.Compression {
	codec, err := batch.ParseCompression(name)
	if err != nil {
		return batch.KeepCompression
	}
	return codec
}
