package topicdir_test

import (
	"errors"
	"testing"
	"time"

	storage "github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/topicdir"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

func TestDeleteRemovesEverythingOfOneTopicOnly(t *testing.T) {
	memory := vfs.NewMem(0)
	v := volume(t, memory)
	before := names(t, memory, ".")
	topic := topicdir.Topic{Name: "orders", ID: firstID, Partitions: 2}
	namesake := topicdir.Topic{Name: "orders", ID: secondID, Partitions: 1}
	create(t, v, topic, 0, 0)
	create(t, v, namesake, 0, 0)
	if err := topicdir.WriteConfig(v, topic, map[string]string{"retention.ms": "1"}); err != nil {
		t.Fatal(err)
	}
	if err := remove(t.Context(), v, topic); err != nil {
		t.Fatal(err)
	}
	if got := names(t, memory, "orders"); len(got) != 1 || got[0] != secondID.String() {
		t.Fatalf("left: %v", got)
	}
	if _, err := take(t, v, namesake, 0); err != nil {
		t.Fatalf("the other incarnation: %v", err)
	}
	if err := remove(t.Context(), v, namesake); err != nil {
		t.Fatal(err)
	}
	if got := names(t, memory, "."); len(got) != len(before) {
		t.Fatalf("left: %v, at first %v", got, before)
	}
	if err := remove(t.Context(), v, topic); err != nil {
		t.Fatalf("deleting what is gone: %v", err)
	}
}

func TestDeleteRaisesTheFloorBeforeItRemovesAnything(t *testing.T) {
	v := volume(t, vfs.NewMem(0))
	topic := topicdir.Topic{Name: "orders", ID: firstID, Partitions: 2}
	create(t, v, topic, 0, 0)
	var last storage.Epoch
	for range 3 {
		epoch, err := take(t, v, topic, 1)
		if err != nil {
			t.Fatal(err)
		}
		last = epoch
	}
	if highest, err := topicdir.HighestEpoch(t.Context(), v, topic); err != nil || highest != last {
		t.Fatalf("highest epoch %d, error %v, want %d", highest, err, last)
	}
	refused := errors.New("no floor today")
	var asked storage.Epoch
	err := topicdir.Delete(t.Context(), v, topic, func(floor storage.Epoch) error { asked = floor; return refused })
	if !errors.Is(err, refused) || asked < last {
		t.Fatalf("floor %d for epoch %d, error %v", asked, last, err)
	}
	if epoch, err := take(t, v, topic, 1); err != nil || epoch != last+1 {
		t.Fatalf("the topic after a refused deletion: epoch %d, error %v", epoch, err)
	}
}

func TestDeleteFencesTheOwner(t *testing.T) {
	v := volume(t, vfs.NewMem(0))
	topic := topicdir.Topic{Name: "orders", ID: firstID, Partitions: 1}
	create(t, v, topic, 0, 0)
	engine, err := storage.NewEngine(storage.Options{RetentionInterval: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	dir, err := topicdir.OpenPartition(v, topic, 0)
	if err != nil {
		t.Fatal(err)
	}
	partition, err := engine.Take(t.Context(), dir, storage.TakeOptions{Volume: v, Config: storage.DefaultConfig()})
	if err != nil {
		t.Fatal(err)
	}
	defer partition.Abandon()
	if err := remove(t.Context(), v, topic); err != nil {
		t.Fatal(err)
	}
	if err := partition.Confirm(t.Context(), time.Now()); !errors.Is(err, storage.ErrFenced) {
		t.Fatalf("the owner of a deleted partition sees %v", err)
	}
	if _, err := take(t, v, topic, 0); err == nil {
		t.Fatal("a deleted partition was taken")
	}
}

func TestDeleteIsFinishedAfterACrashAtAnyStep(t *testing.T) {
	topic := topicdir.Topic{Name: "orders", ID: firstID, Partitions: 2}
	for n := 1; ; n++ {
		memory := vfs.NewMem(0)
		v := volume(t, memory)
		create(t, v, topic, 0, 0)
		last, err := take(t, v, topic, 1)
		if err != nil {
			t.Fatal(err)
		}
		var floor storage.Epoch
		raise := func(e storage.Epoch) error { floor = max(floor, e); return nil }
		died := topicdir.Delete(t.Context(), dyingVolume(t, memory, n), topic, raise)
		if died != nil && !errors.Is(died, errCrash) {
			t.Fatal(died)
		}
		if err := topicdir.Delete(t.Context(), v, topic, raise); err != nil {
			t.Fatalf("after a crash at change %d: %v", n, err)
		}
		if floor < last {
			t.Fatalf("after a crash at change %d the floor is %d, the last epoch was %d", n, floor, last)
		}
		if got := names(t, memory, "."); len(got) > 1 {
			t.Fatalf("after a crash at change %d these are left: %v", n, got)
		}
		if died == nil {
			if n < 10 {
				t.Fatalf("deletion took only %d changes", n)
			}
			return
		}
	}
}

func TestStrangersInATopicDirectoryAreLeftAlone(t *testing.T) {
	memory := vfs.NewMem(0)
	v := volume(t, memory)
	topic := topicdir.Topic{Name: "orders", ID: firstID, Partitions: 1}
	create(t, v, topic, 0, 0)
	path := "orders/" + firstID.String()
	for _, stranger := range []string{".snapshot", "lost+found", "01", "-1", "99999999999", ".nfs0000000000000001"} {
		if err := memory.MkdirAll(path + "/" + stranger); err != nil {
			t.Fatal(err)
		}
	}
	if count, err := topicdir.Partitions(v, topic); err != nil || count != 1 {
		t.Fatalf("%d partitions, error %v", count, err)
	}
	if err := remove(t.Context(), v, topic); !errors.Is(err, topicdir.ErrLeftovers) {
		t.Fatalf("error %v", err)
	}
	if got := names(t, memory, path); len(got) != 6 {
		t.Fatalf("left: %v", got)
	}
}

func TestStrangerInAPartitionEndsTheDeletionWithAnError(t *testing.T) {
	memory := vfs.NewMem(0)
	v := volume(t, memory)
	topic := topicdir.Topic{Name: "orders", ID: firstID, Partitions: 1}
	create(t, v, topic, 0, 0)
	stranger := "orders/" + firstID.String() + "/0/lost+found"
	if err := memory.MkdirAll(stranger); err != nil {
		t.Fatal(err)
	}
	if err := remove(t.Context(), v, topic); !errors.Is(err, topicdir.ErrLeftovers) {
		t.Fatalf("error %v", err)
	}
	if _, err := memory.OpenDir(stranger); err != nil {
		t.Fatal(err)
	}
}
