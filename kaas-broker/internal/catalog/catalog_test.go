package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
)

func topic(name string, partitions int32) *catalog.Topic {
	return &catalog.Topic{Name: name, ID: uuid.New(), Partitions: partitions, Overrides: map[string]string{"retention.ms": "5"}}
}

func TestLookups(t *testing.T) {
	c := catalog.New()
	b, a := topic("b", 2), topic("a.x", 1)
	s := c.Update([]*catalog.Topic{b, a}, nil)
	if s != c.Snapshot() || s.Len() != 2 || s.Topics()[0] != a || s.Topics()[1] != b {
		t.Fatalf("%d topics: %v", s.Len(), s.Topics())
	}
	if got, ok := s.ByName("b"); !ok || got != b {
		t.Fatalf("by name: %v", got)
	}
	if got, ok := s.ByID(a.ID); !ok || got != a {
		t.Fatalf("by id: %v", got)
	}
	if _, ok := s.ByName("c"); ok {
		t.Fatal("a topic that does not exist was found")
	}
	if other, ok := s.Collision("a_x"); !ok || other != "a.x" {
		t.Fatalf("collision with %q", other)
	}
	if _, ok := s.Collision("a.x"); ok {
		t.Fatal("a topic collides with itself")
	}
}

func TestSnapshotsDoNotChange(t *testing.T) {
	c := catalog.New()
	first := topic("a", 1)
	before := c.Update([]*catalog.Topic{first}, nil)
	second := topic("a", 1)
	after := c.Update([]*catalog.Topic{second, topic("b", 1)}, []string{"a"})
	if got, _ := before.ByName("a"); before.Len() != 1 || got != first {
		t.Fatalf("the old snapshot shows %v", got)
	}
	if _, ok := after.ByID(first.ID); ok || after.Len() != 2 {
		t.Fatal("the id of a topic that was replaced is still known")
	}
	clone := second.Clone()
	clone.Overrides["x"] = "y"
	if len(second.Overrides) != 1 {
		t.Fatal("a clone shares its overrides")
	}
}

func TestHasPartition(t *testing.T) {
	a := topic("a", 2)
	for partition, want := range map[int32]bool{-1: false, 0: true, 1: true, 2: false} {
		if a.HasPartition(partition) != want {
			t.Errorf("partition %d: %v", partition, !want)
		}
	}
}

func TestWatchersAreWokenAndNeverWaitedFor(t *testing.T) {
	c := catalog.New()
	woken, full := make(chan struct{}, 1), make(chan struct{})
	stop := c.Watch(woken)
	defer c.Watch(full)()
	c.Update([]*catalog.Topic{topic("a", 1)}, nil)
	c.Update([]*catalog.Topic{topic("b", 1)}, nil)
	select {
	case <-woken:
	default:
		t.Fatal("no wake-up")
	}
	stop()
	c.Update(nil, []string{"a"})
	select {
	case <-woken:
		t.Fatal("woken after stop")
	default:
	}
}

func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := catalog.New()
		has := func(name string) func(*catalog.Snapshot) bool {
			return func(s *catalog.Snapshot) bool { _, ok := s.ByName(name); return ok }
		}
		var group sync.WaitGroup
		group.Go(func() {
			if s, err := c.Wait(t.Context(), has("b")); err != nil || s.Len() != 2 {
				t.Errorf("%v, error %v", s, err)
			}
		})
		synctest.Wait()
		c.Update([]*catalog.Topic{topic("a", 1)}, nil)
		synctest.Wait()
		c.Update([]*catalog.Topic{topic("b", 1)}, nil)
		group.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.Wait(ctx, has("c")); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("error %v", err)
		}
	})
}

func TestValidateName(t *testing.T) {
	cases := map[string]error{
		"a": nil, "A.b_c-9": nil, "...": nil, ".a": nil, "__consumer_offsets": nil, "__cluster": nil, strings.Repeat("x", 249): nil,
		"": catalog.ErrInvalidName, ".": catalog.ErrInvalidName, "..": catalog.ErrInvalidName, strings.Repeat("x", 250): catalog.ErrInvalidName,
		"a b": catalog.ErrInvalidName, "a/b": catalog.ErrInvalidName, "ä": catalog.ErrInvalidName, "a\x00": catalog.ErrInvalidName,
		"a,b": catalog.ErrInvalidName, "__cluster_metadata": catalog.ErrReservedName,
	}
	for name, want := range cases {
		if err := catalog.ValidateName(name); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", name, err, want)
		}
	}
}

func BenchmarkByName(b *testing.B) {
	c := catalog.New()
	var all []*catalog.Topic
	for i := range 1000 {
		all = append(all, topic(fmt.Sprintf("topic-%d", i), 1))
	}
	c.Update(all, nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := c.Snapshot().ByName("topic-500"); !ok {
			b.Fatal("not found")
		}
	}
}
