package offset_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/kaas-rs/kaas/kaas-coordinator/offset"
	"github.com/kaas-rs/kaas/kaas-coordinator/slot"
	"github.com/kaas-rs/kaas/kaas-storage"
)

func at(topic string, partition int32) offset.Partition {
	return offset.Partition{Topic: topic, Partition: partition}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// play applies records as a replay does.
func play(t testing.TB, o *offset.Offsets, records []slot.Record) {
	t.Helper()
	for _, r := range records {
		must(t, o.Apply(r))
	}
}

func TestValueRoundTrip(t *testing.T) {
	id := uuid.MustParse("6ba7b810-9dad-11d1-80b4-00c04fd430c8")
	cases := map[string]offset.Committed{
		`{"version":1,"offset":0,"leader_epoch":-1,"time":0,"order":0}`: {LeaderEpoch: -1, ExpireTime: offset.Never},
		`{"version":1,"offset":-5,"leader_epoch":7,"time":17,"order":9,"expires":20,"topic_id":"6ba7b810-9dad-11d1-80b4-00c04fd430c8","metadata":"a\"é"}`: {
			Offset: -5, LeaderEpoch: 7, Metadata: "a\"é", TopicID: id, CommitTime: 17, ExpireTime: 20, Order: 9,
		},
	}
	for text, c := range cases {
		if got := string(c.AppendJSON(nil)); got != text {
			t.Errorf("wrote %s, want %s", got, text)
		}
		got, err := offset.Decode(slot.KindOffset, []byte(text))
		if err != nil || got != c {
			t.Errorf("read %+v, %v, want %+v", got, err, c)
		}
	}
	if _, err := offset.Decode(slot.KindPending, []byte(`{"version":3,"offset":1}`)); !errors.Is(err, storage.ErrFutureVersion) {
		t.Errorf("version 3: %v", err)
	}
	if _, err := offset.Decode(slot.KindPending, []byte(`{"offset":`)); err == nil {
		t.Error("half a value was read")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"version":1,"offset":7,"leader_epoch":-1,"time":17,"order":3,"expires":20,"metadata":"é"}`))
	f.Fuzz(func(t *testing.T, value []byte) {
		c, err := offset.Decode(slot.KindOffset, value)
		if err != nil {
			return
		}
		again, err := offset.Decode(slot.KindOffset, c.AppendJSON(nil))
		if err != nil || again != c {
			t.Errorf("%+v became %+v, %v", c, again, err)
		}
	})
}

func TestIncarnations(t *testing.T) {
	old, current := uuid.New(), uuid.New()
	o := offset.New()
	o.Commit(at("t", 0), offset.Committed{Offset: 1, TopicID: old})
	o.Commit(at("t", 1), offset.Committed{Offset: 2, TopicID: current})
	o.Commit(at("t", 2), offset.Committed{Offset: 3})
	for partition, want := range map[int32]bool{0: false, 1: true, 2: true, 3: false} {
		if _, found := o.Get(at("t", partition), current); found != want {
			t.Errorf("partition %d: found %v", partition, found)
		}
	}
	if _, found := o.Get(at("t", 0), uuid.Nil); !found {
		t.Error("not found without an id")
	}
	if got, want := o.OfTopic("t", old), []offset.Partition{at("t", 0), at("t", 2)}; !reflect.DeepEqual(got, want) {
		t.Errorf("of the old topic: %v", got)
	}
}

func TestTransactions(t *testing.T) {
	staged := func() *offset.Offsets {
		o := offset.New()
		o.Commit(at("a", 0), offset.Committed{Offset: 1, Order: 10})
		o.Stage(7, at("a", 0), offset.Committed{Offset: 2, Order: 11})
		o.Stage(7, at("a", 0), offset.Committed{Offset: 3, Order: 12}) // the latest counts
		o.Stage(7, at("b", 0), offset.Committed{Offset: 4, Order: 13})
		o.Commit(at("b", 0), offset.Committed{Offset: 5, Order: 14}) // a plain commit came later
		o.Stage(8, at("c", 0), offset.Committed{Offset: 6, Order: 15})
		return o
	}
	cases := []struct {
		name   string
		commit bool
		want   map[string]int64
	}{
		{"commit", true, map[string]int64{"a": 3, "b": 5}},
		{"abort", false, map[string]int64{"a": 1, "b": 5}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			live, replay := staged(), staged()
			if !live.IsUnstable(at("a", 0)) || live.IsUnstable(at("d", 0)) {
				t.Error("unstable partitions")
			}
			var records []slot.Record
			for _, at := range live.Staged(7) {
				records = append(records, live.Completion("g", 7, at, c.commit)...)
				live.Complete(7, []offset.Partition{at}, c.commit)
			}
			play(t, replay, records)
			for _, o := range []*offset.Offsets{live, replay} {
				for topic, want := range c.want {
					if got, _ := o.Get(at(topic, 0), uuid.Nil); got.Offset != want {
						t.Errorf("%s is at %d, want %d", topic, got.Offset, want)
					}
				}
				if got := o.Producers(); !reflect.DeepEqual(got, []int64{8}) {
					t.Errorf("producers %v", got)
				}
				if o.IsUnstable(at("a", 0)) || !o.IsUnstable(at("c", 0)) {
					t.Error("unstable partitions after the end")
				}
			}
			if again := live.Completion("g", 7, at("a", 0), c.commit); len(again) != 0 || len(live.Staged(7)) != 0 {
				t.Errorf("a second end writes %v", again)
			}
			live.Complete(7, []offset.Partition{at("a", 0)}, c.commit)
		})
	}
}

func TestRemoval(t *testing.T) {
	filled := func() *offset.Offsets {
		o := offset.New()
		o.Commit(at("a", 0), offset.Committed{Offset: 1})
		o.Stage(7, at("a", 0), offset.Committed{Offset: 2})
		o.Stage(8, at("b", 0), offset.Committed{Offset: 3})
		return o
	}
	live, replay := filled(), filled()
	if live.AreWithin([]offset.Partition{at("a", 0), at("a", 0)}) || !live.AreWithin(live.All()) {
		t.Error("wrong about what is left")
	}
	records := live.Removal("g", live.All())
	live.Forget(live.All())
	play(t, replay, records)
	if !live.IsEmpty() || !replay.IsEmpty() || len(records) != 3 {
		t.Errorf("left: %v, %v after %d records", live.All(), replay.All(), len(records))
	}
	if none := live.Removal("g", []offset.Partition{at("x", 0)}); len(none) != 0 {
		t.Errorf("nothing is removed by %v", none)
	}
}

func TestExpiry(t *testing.T) {
	day := 24 * time.Hour
	now := time.UnixMilli(100 * day.Milliseconds())
	ago := func(d time.Duration) int64 { return now.Add(-d).UnixMilli() }
	o := offset.New()
	o.Commit(at("old", 0), offset.Committed{CommitTime: ago(8 * day), ExpireTime: offset.Never})
	o.Commit(at("young", 0), offset.Committed{CommitTime: ago(6 * day), ExpireTime: offset.Never})
	o.Commit(at("edge", 0), offset.Committed{CommitTime: ago(7 * day), ExpireTime: offset.Never})
	o.Commit(at("short", 0), offset.Committed{CommitTime: ago(day), ExpireTime: ago(0)})
	o.Commit(at("long", 0), offset.Committed{CommitTime: ago(50 * day), ExpireTime: ago(-time.Millisecond)})
	o.Commit(at("staged", 0), offset.Committed{CommitTime: ago(50 * day), ExpireTime: offset.Never})
	o.Stage(7, at("staged", 0), offset.Committed{})
	cases := []struct {
		name string
		use  offset.Use
		want []string
	}{
		{"standalone: from each commit", offset.Use{}, []string{"edge", "old", "short"}},
		{"members of other kinds", offset.Use{Keeps: true}, nil},
		{"consumed topics stay", offset.Use{Subscribed: func(topic string) bool { return topic == "old" || topic == "short" }}, []string{"edge"}},
		{"empty for long", offset.Use{EmptySince: now.Add(-30 * day)}, []string{"edge", "old", "short"}},
		{"empty for a day", offset.Use{EmptySince: now.Add(-day)}, []string{"short"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, p := range o.Expired(now, 7*day, c.use) {
				got = append(got, p.Topic)
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("expired %v, want %v", got, c.want)
			}
		})
	}
}
