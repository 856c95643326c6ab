package fetchsession_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kaas-rs/kaas/kaas-broker/internal/fetchsession"
)

func wanted(topic string, offset int64) fetchsession.Wanted {
	return fetchsession.Wanted{Key: fetchsession.Key{Topic: topic}, Offset: offset, MaxBytes: 100, LeaderEpoch: -1, LastEpoch: -1}
}

// open begins a session and returns its id.
func open(t testing.TB, c *fetchsession.Cache, topics ...string) int32 {
	t.Helper()
	var r fetchsession.Request
	for _, topic := range topics {
		r.Wanted = append(r.Wanted, wanted(topic, 0))
	}
	f, err := c.Begin(r)
	if err != nil {
		t.Fatal(err)
	}
	id, err := f.End(make([]fetchsession.Result, len(topics)))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func topics(f *fetchsession.Fetch) []string {
	var names []string
	for _, w := range f.Wanted() {
		names = append(names, fmt.Sprintf("%s@%d", w.Topic, w.Offset))
	}
	return names
}

func TestRequestsOfASession(t *testing.T) {
	type step struct {
		name    string
		request fetchsession.Request // ID 1 stands for the session's
		err     error
		want    []string
	}
	steps := []step{
		{"unchanged", fetchsession.Request{ID: 1, Epoch: 1}, nil, []string{"a@0", "b@0"}},
		{"same epoch again", fetchsession.Request{ID: 1, Epoch: 1}, fetchsession.ErrEpoch, nil},
		{"epoch too high", fetchsession.Request{ID: 1, Epoch: 3}, fetchsession.ErrEpoch, nil},
		{"changed", fetchsession.Request{ID: 1, Epoch: 2, Wanted: []fetchsession.Wanted{wanted("b", 5)}}, nil, []string{"a@0", "b@5"}},
		{"added", fetchsession.Request{ID: 1, Epoch: 3, Wanted: []fetchsession.Wanted{wanted("c", 1)}}, nil, []string{"a@0", "b@5", "c@1"}},
		{"other style", fetchsession.Request{ID: 1, Epoch: 4, ByID: true}, fetchsession.ErrTopicIDs, nil},
		{"forgotten", fetchsession.Request{ID: 1, Epoch: 4, Forgotten: []fetchsession.Key{{Topic: "a"}, {Topic: "unknown"}}}, nil, []string{"b@5", "c@1"}},
		{"other id", fetchsession.Request{ID: 2, Epoch: 5}, fetchsession.ErrNotFound, nil},
		{"no id", fetchsession.Request{ID: 0, Epoch: 5}, fetchsession.ErrNotFound, nil},
		{"all forgotten", fetchsession.Request{ID: 1, Epoch: 5, Forgotten: []fetchsession.Key{{Topic: "b"}, {Topic: "c"}}}, nil, nil},
		{"gone", fetchsession.Request{ID: 1, Epoch: 6}, fetchsession.ErrNotFound, nil},
	}
	c := fetchsession.New(10)
	id := open(t, c, "a", "b")
	if id <= 0 {
		t.Fatalf("session id %d", id)
	}
	for _, s := range steps {
		switch s.request.ID {
		case 1:
			s.request.ID = id
		case 2:
			s.request.ID = id ^ 1
		}
		f, err := c.Begin(s.request)
		if !errors.Is(err, s.err) {
			t.Fatalf("%s: %v, want %v", s.name, err, s.err)
		}
		if err != nil {
			continue
		}
		if got := topics(f); !slices.Equal(got, s.want) {
			t.Errorf("%s: %v, want %v", s.name, got, s.want)
		}
		if _, err := f.End(make([]fetchsession.Result, len(f.Wanted()))); err != nil {
			t.Errorf("%s: end: %v", s.name, err)
		}
	}
	if c.Len() != 0 {
		t.Errorf("%d sessions left", c.Len())
	}
}

func TestWhatIsLeftOut(t *testing.T) {
	quiet := fetchsession.Result{HighWatermark: 5, LogStart: 1}
	steps := []struct {
		name   string
		result fetchsession.Result
		skip   bool
	}{
		{"nothing new", quiet, true},
		{"records", fetchsession.Result{HighWatermark: 5, LogStart: 1, Records: true}, false},
		{"nothing new after records", quiet, true},
		{"watermark moved", fetchsession.Result{HighWatermark: 6, LogStart: 1}, false},
		{"the same again", fetchsession.Result{HighWatermark: 6, LogStart: 1}, true},
		{"log start moved", fetchsession.Result{HighWatermark: 6, LogStart: 2}, false},
		{"error", fetchsession.Result{HighWatermark: -1, LogStart: -1, Notable: true}, false},
		{"error again", fetchsession.Result{HighWatermark: -1, LogStart: -1, Notable: true}, false},
		{"recovered", fetchsession.Result{HighWatermark: 6, LogStart: 2}, false},
		{"diverging", fetchsession.Result{HighWatermark: 6, LogStart: 2, Notable: true}, false},
		{"after that", fetchsession.Result{HighWatermark: 6, LogStart: 2}, false},
		{"quiet", fetchsession.Result{HighWatermark: 6, LogStart: 2}, true},
	}
	c := fetchsession.New(1)
	f, err := c.Begin(fetchsession.Request{Wanted: []fetchsession.Wanted{wanted("a", 0)}})
	if err != nil {
		t.Fatal(err)
	}
	results := []fetchsession.Result{quiet}
	id, err := f.End(results)
	if err != nil || id == 0 || results[0].Skip {
		t.Fatalf("first answer: id %d, %+v, %v", id, results, err)
	}
	for i, s := range steps {
		f, err := c.Begin(fetchsession.Request{ID: id, Epoch: int32(i + 1)})
		if err != nil {
			t.Fatal(err)
		}
		results := []fetchsession.Result{s.result}
		if got, err := f.End(results); err != nil || got != id {
			t.Fatalf("%s: id %d, %v", s.name, got, err)
		}
		if results[0].Skip != s.skip {
			t.Errorf("%s: left out %t", s.name, results[0].Skip)
		}
	}
}

func TestPartitionsWithRecordsGoBehind(t *testing.T) {
	c := fetchsession.New(1)
	id := open(t, c, "a", "b", "c")
	f, _ := c.Begin(fetchsession.Request{ID: id, Epoch: 1})
	if _, err := f.End([]fetchsession.Result{{Records: true}, {}, {Records: true}}); err != nil {
		t.Fatal(err)
	}
	f, _ = c.Begin(fetchsession.Request{ID: id, Epoch: 2})
	if got := topics(f); !slices.Equal(got, []string{"b@0", "a@0", "c@0"}) {
		t.Errorf("order %v", got)
	}
}

func TestFullRequestsEndSessions(t *testing.T) {
	for name, epoch := range map[string]int32{"closed": -1, "begun anew": 0} {
		t.Run(name, func(t *testing.T) {
			c := fetchsession.New(5)
			id := open(t, c, "a")
			f, err := c.Begin(fetchsession.Request{ID: id, Epoch: epoch, Wanted: []fetchsession.Wanted{wanted("b", 3)}})
			if err != nil || !slices.Equal(topics(f), []string{"b@3"}) {
				t.Fatalf("%v, %v", topics(f), err)
			}
			next, err := f.End(make([]fetchsession.Result, 1))
			if err != nil || (next != 0) != (epoch == 0) {
				t.Errorf("id %d, %v", next, err)
			}
			if _, err := c.Begin(fetchsession.Request{ID: id, Epoch: 1}); !errors.Is(err, fetchsession.ErrNotFound) && next != id {
				t.Errorf("the old session lives: %v", err)
			}
		})
	}
}

func TestOvertakenRequest(t *testing.T) {
	c := fetchsession.New(1)
	id := open(t, c, "a")
	slow, _ := c.Begin(fetchsession.Request{ID: id, Epoch: 1})
	if _, err := c.Begin(fetchsession.Request{ID: id, Epoch: 2}); err != nil {
		t.Fatal(err)
	}
	if _, err := slow.End(make([]fetchsession.Result, 1)); !errors.Is(err, fetchsession.ErrEpoch) {
		t.Errorf("overtaken request: %v", err)
	}
}

func TestSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := fetchsession.New(2)
		first, second := open(t, c, "a"), open(t, c, "b")
		if id := open(t, c, "c"); id != 0 {
			t.Errorf("a young session was evicted for %d", id)
		}
		time.Sleep(time.Minute)
		if _, err := c.Begin(fetchsession.Request{ID: first, Epoch: 1}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if id := open(t, c, "c"); id == 0 {
			t.Error("no session although one was not used for long")
		}
		if _, err := c.Begin(fetchsession.Request{ID: second, Epoch: 1}); !errors.Is(err, fetchsession.ErrNotFound) {
			t.Errorf("the session used longest ago: %v", err)
		}
		if id := open(t, c, "d"); id != 0 {
			t.Error("a session in use was evicted for one that saves no more")
		}
		if id := open(t, c, "d", "e"); id == 0 {
			t.Error("an old small session was kept before a larger one")
		}
		if _, err := c.Begin(fetchsession.Request{ID: first, Epoch: 2}); !errors.Is(err, fetchsession.ErrNotFound) {
			t.Errorf("the small session: %v", err)
		}
		if c.Len() != 2 {
			t.Errorf("%d sessions", c.Len())
		}
	})
}

func TestNoSlots(t *testing.T) {
	c := fetchsession.New(0)
	if id := open(t, c, "a"); id != 0 {
		t.Errorf("session %d", id)
	}
}

func TestPartitionsAreBounded(t *testing.T) {
	c := fetchsession.New(10)
	r := fetchsession.Request{Wanted: make([]fetchsession.Wanted, 1<<20+1)}
	for i := range r.Wanted {
		r.Wanted[i].Partition = int32(i)
	}
	f, err := c.Begin(r)
	if err != nil {
		t.Fatal(err)
	}
	if id, err := f.End(make([]fetchsession.Result, len(r.Wanted))); err != nil || id != 0 {
		t.Errorf("session %d with too many partitions: %v", id, err)
	}
}

// The name of a topic that does not exist may have 32 KiB.
func TestNamesAreBounded(t *testing.T) {
	c := fetchsession.New(1000)
	names, sessions := make([]string, 100), 0
	for i := range names {
		names[i] = fmt.Sprintf("%032767d", i)
	}
	for range 200 {
		if open(t, c, names...) != 0 {
			sessions++
		}
	}
	if want := 256 << 20 / 3_300_000; sessions > want || sessions < want*9/10 {
		t.Errorf("%d sessions of 3 MB of names, want about %d", sessions, want)
	}
}

// A session cannot grow past the bound that a new one would not get past.
func TestGrowthIsBounded(t *testing.T) {
	c := fetchsession.New(10)
	id := open(t, c, "a")
	long := strings.Repeat("a", 32<<10)
	const step = 1000
	for epoch := int32(1); epoch < 20; epoch++ {
		r := fetchsession.Request{ID: id, Epoch: epoch, Wanted: make([]fetchsession.Wanted, step)}
		for i := range r.Wanted {
			r.Wanted[i].Topic, r.Wanted[i].Partition = long, epoch*step+int32(i)
		}
		f, err := c.Begin(r)
		if err == nil {
			_, err = f.End(make([]fetchsession.Result, len(f.Wanted())))
		}
		if errors.Is(err, fetchsession.ErrNotFound) {
			if epoch < 8 || c.Len() != 0 {
				t.Errorf("ended at %d partitions, %d sessions left", epoch*step, c.Len())
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Error("a session has grown past the bound")
}
