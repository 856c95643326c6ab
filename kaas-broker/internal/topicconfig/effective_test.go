package topicconfig_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/kaas-rs/kaas/kaas-broker/config"
	"github.com/kaas-rs/kaas/kaas-broker/config/configdef"
	"github.com/kaas-rs/kaas/kaas-broker/internal/topicconfig"
	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage"
)

func brokerWith(t *testing.T, overrides ...string) config.Values {
	t.Helper()
	var args []string
	for _, override := range overrides {
		args = append(args, "--override", override)
	}
	c, err := config.Load(config.Input{Args: args})
	if err != nil {
		t.Fatal(err)
	}
	return c.Values
}

func TestEngineDefaults(t *testing.T) {
	effective, err := topicconfig.Resolve(config.Values{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, want := effective.Storage(), storage.DefaultConfig()
	want.FlushInterval = got.FlushInterval       // Kafka's default is "never", the engine caps it
	want.MaxCompactionLag = got.MaxCompactionLag // likewise, and the engine's is 0
	if got != want {
		t.Errorf("storage %+v, want the engine's defaults %+v", got, want)
	}
	if got.MaxCompactionLag < 100*365*24*time.Hour {
		t.Errorf("longest lag of compaction %s", got.MaxCompactionLag)
	}
	if effective.FlushMessages != 1 || effective.FlushInterval < time.Hour {
		t.Errorf("flush %d, %s", effective.FlushMessages, effective.FlushInterval)
	}
	rules := effective.Rules(9, time.UnixMilli(77))
	wantRules := batch.Rules{
		Version: 9, MaxBytes: 1048588, Compression: batch.KeepCompression, Now: 77,
		MaxBefore: math.MaxInt64, MaxAfter: math.MaxInt64,
	}
	if rules != wantRules {
		t.Errorf("rules %+v, want %+v", rules, wantRules)
	}
}

func TestTopicOverBrokerOverDefault(t *testing.T) {
	cases := []struct {
		name   string
		broker []string
		topic  map[string]string
		holds  func(topicconfig.Effective) bool
	}{
		{
			"hours of the broker",
			[]string{"log.retention.hours=2"},
			nil,
			func(e topicconfig.Effective) bool { return e.RetentionAge == 2*time.Hour },
		},
		{
			"minutes over hours",
			[]string{"log.retention.hours=2", "log.retention.minutes=3"},
			nil,
			func(e topicconfig.Effective) bool { return e.RetentionAge == 3*time.Minute },
		},
		{
			"milliseconds over minutes",
			[]string{"log.retention.minutes=3", "log.retention.ms=4"},
			nil,
			func(e topicconfig.Effective) bool { return e.RetentionAge == 4*time.Millisecond },
		},
		{
			"for ever in hours",
			[]string{"log.retention.hours=-1"},
			nil,
			func(e topicconfig.Effective) bool { return e.RetentionAge < 0 },
		},
		{
			"topic over broker",
			[]string{"log.retention.ms=4"},
			map[string]string{"retention.ms": " 5 "},
			func(e topicconfig.Effective) bool { return e.RetentionAge == 5*time.Millisecond },
		},
		{
			"roll in hours",
			[]string{"log.roll.hours=1"},
			nil,
			func(e topicconfig.Effective) bool { return e.SegmentAge == time.Hour },
		},
		{
			"flush by the scheduler's key",
			[]string{"log.flush.scheduler.interval.ms=7", "log.flush.interval.messages=100"},
			nil,
			func(e topicconfig.Effective) bool {
				return e.FlushInterval == 7*time.Millisecond && e.FlushMessages == 100
			},
		},
		{
			"both policies", nil,
			map[string]string{"cleanup.policy": "compact , delete"},
			func(e topicconfig.Effective) bool { return e.Compact && e.Delete },
		},
		{
			"what compaction goes by", nil,
			map[string]string{
				"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.25", "min.compaction.lag.ms": "5", "max.compaction.lag.ms": "3600000", "delete.retention.ms": "7",
			},
			func(e topicconfig.Effective) bool {
				s := e.Storage()
				return s.Compact && s.MinCleanableDirtyRatio == 0.25 && s.MinCompactionLag == 5*time.Millisecond && s.MaxCompactionLag == time.Hour &&
					s.DeleteRetention == 7*time.Millisecond && s.SegmentAge == time.Hour
			},
		},
		{
			"what compaction goes by, from the broker",
			[]string{
				"log.cleaner.min.cleanable.ratio=0.75", "log.cleaner.min.compaction.lag.ms=6", "log.cleaner.max.compaction.lag.ms=8", "log.cleaner.delete.retention.ms=9",
			},
			nil,
			func(e topicconfig.Effective) bool {
				s := e.Storage()
				return !s.Compact && s.MinCleanableDirtyRatio == 0.75 && s.MinCompactionLag == 6*time.Millisecond && s.MaxCompactionLag == 8*time.Millisecond &&
					s.DeleteRetention == 9*time.Millisecond && s.SegmentAge == 7*24*time.Hour
			},
		},
		{
			"no policy", nil,
			map[string]string{"cleanup.policy": ""},
			func(e topicconfig.Effective) bool { return !e.Compact && !e.Delete },
		},
		{
			"the older bound counts", nil,
			map[string]string{"message.timestamp.difference.max.ms": "9", "message.timestamp.after.max.ms": "3"},
			func(e topicconfig.Effective) bool { return e.TimestampBeforeMaxMs == 9 && e.TimestampAfterMaxMs == 3 },
		},
		{
			"codec and clock",
			[]string{"compression.type=zstd"},
			map[string]string{"message.timestamp.type": "LogAppendTime"},
			func(e topicconfig.Effective) bool { return e.Compression == batch.Zstd && e.AppendTime },
		},
		{
			"uncompressed", nil,
			map[string]string{"compression.type": "uncompressed"},
			func(e topicconfig.Effective) bool { return e.Compression == batch.None },
		},
		{
			"huge durations do not overflow", nil,
			map[string]string{"retention.ms": "9223372036854775807"},
			func(e topicconfig.Effective) bool { return e.RetentionAge > 200*365*24*time.Hour },
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			effective, err := topicconfig.Resolve(brokerWith(t, c.broker...), c.topic)
			if err != nil || !c.holds(effective) {
				t.Errorf("%+v, %v", effective, err)
			}
		})
	}
}

func TestInvalidValuesAreLeftOut(t *testing.T) {
	effective, err := topicconfig.Resolve(config.Values{}, map[string]string{
		"retention.ms": "soon", "no.such": "1", "segment.bytes": "1000",
	})
	if err == nil || !strings.Contains(err.Error(), "no.such") || !strings.Contains(err.Error(), "retention.ms") {
		t.Errorf("error %v", err)
	}
	if effective.SegmentBytes != 1000 || effective.RetentionAge != 7*24*time.Hour {
		t.Errorf("effective %+v", effective)
	}
}

// Recorded from Kafka 3.7.2 with the same settings.
func TestDescribeSources(t *testing.T) {
	broker := brokerWith(t, "log.retention.hours=100", "log.roll.hours=50", "log.roll.ms=1000000",
		"log.flush.interval.ms=5000", "log.flush.scheduler.interval.ms=7000", "log.segment.bytes=2000000")
	topic := map[string]string{"segment.bytes": " 3000000 ", "preallocate": "TRUE"}
	cases := []struct {
		name, value string
		source      configdef.Source
		synonyms    string
	}{
		{"segment.bytes", "3000000", configdef.SourceDynamicTopic, "DYNAMIC_TOPIC_CONFIG:segment.bytes=3000000 " +
			"STATIC_BROKER_CONFIG:log.segment.bytes=2000000 DEFAULT_CONFIG:log.segment.bytes=1073741824"},
		{"flush.ms", "5000", configdef.SourceStaticBroker, "STATIC_BROKER_CONFIG:log.flush.interval.ms=5000 " +
			"STATIC_BROKER_CONFIG:log.flush.scheduler.interval.ms=7000 DEFAULT_CONFIG:log.flush.scheduler.interval.ms=9223372036854775807"},
		{"segment.ms", "1000000", configdef.SourceStaticBroker, "STATIC_BROKER_CONFIG:log.roll.ms=1000000 " +
			"STATIC_BROKER_CONFIG:log.roll.hours=50 DEFAULT_CONFIG:log.roll.hours=168"},
		{"retention.ms", "360000000", configdef.SourceDefault, ""},
		{"preallocate", "true", configdef.SourceDynamicTopic, "DYNAMIC_TOPIC_CONFIG:preallocate=true DEFAULT_CONFIG:log.preallocate=false"},
		{"flush.messages", "1", configdef.SourceDefault, "DEFAULT_CONFIG:log.flush.interval.messages=1"},
		{"remote.storage.enable", "false", configdef.SourceDefault, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			entries := topicconfig.Describe(broker, topic, []string{c.name, "no.such.key"})
			if len(entries) != 1 {
				t.Fatalf("%d entries", len(entries))
			}
			var synonyms []string
			for _, s := range entries[0].Synonyms {
				synonyms = append(synonyms, s.Source.String()+":"+s.Name+"="+*s.Value)
			}
			got := strings.Join(synonyms, " ")
			if *entries[0].Value != c.value || entries[0].Source != c.source || got != c.synonyms {
				t.Errorf("got %s %s %s", *entries[0].Value, entries[0].Source, got)
			}
			if entries[0].ReadOnly || entries[0].Sensitive {
				t.Error("read-only or sensitive")
			}
		})
	}
	if all := topicconfig.Describe(broker, topic, nil); len(all) != 31 {
		t.Errorf("%d entries for all keys", len(all))
	}
	if all := topicconfig.Describe(broker, topic, []string{}); len(all) != 31 {
		t.Errorf("%d entries for an empty list, which asks for all", len(all))
	}
}
