package topicdir_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	storage "github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/topicdir"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

func TestCreatedPartitionsAreTakenAboveTheFloor(t *testing.T) {
	v := volume(t, vfs.NewMem(0))
	topic := topicdir.Topic{Name: ".hidden", ID: firstID, Partitions: 3}
	create(t, v, topic, 0, 40)
	for partition := range topic.Partitions {
		epoch, err := take(t, v, topic, partition)
		if err != nil {
			t.Fatal(err)
		}
		if epoch <= 40 {
			t.Fatalf("partition %d is led at epoch %d, the floor is 40", partition, epoch)
		}
	}
	if count, err := topicdir.Partitions(v, topic); err != nil || count != 3 {
		t.Fatalf("%d partitions, error %v", count, err)
	}
}

func TestCreateAgainKeepsWhatIsThere(t *testing.T) {
	v := volume(t, vfs.NewMem(0))
	topic := topicdir.Topic{Name: "orders", ID: firstID, Partitions: 1}
	create(t, v, topic, 0, 0)
	before, err := take(t, v, topic, 0)
	if err != nil {
		t.Fatal(err)
	}
	topic.Partitions = 2
	create(t, v, topic, 0, 0)
	after, err := take(t, v, topic, 0)
	if err != nil || after <= before {
		t.Fatalf("epoch %d after %d, error %v: the partition was made anew", after, before, err)
	}
}

func TestCreateMakesNoPartitionBelowFrom(t *testing.T) {
	memory := vfs.NewMem(0)
	v := volume(t, memory)
	topic := topicdir.Topic{Name: "orders", ID: firstID, Partitions: 4}
	create(t, v, topic, 2, 0)
	if got := names(t, memory, "orders/"+firstID.String()); len(got) != 2 || got[0] != "2" || got[1] != "3" {
		t.Fatalf("made %v", got)
	}
}

func TestCreateEndsWithItsContext(t *testing.T) {
	v := volume(t, vfs.NewMem(0))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := topicdir.Create(ctx, v, topicdir.Topic{Name: "orders", ID: firstID, Partitions: 4}, 0, 0)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
}

func TestCreateIsFinishedAfterACrashAtAnyStep(t *testing.T) {
	topic := topicdir.Topic{Name: "orders", ID: firstID, Partitions: 2}
	for n := 1; ; n++ {
		memory := vfs.NewMem(0)
		volume(t, memory)
		err := topicdir.Create(t.Context(), dyingVolume(t, memory, n), topic, 0, 5)
		if err == nil {
			if n < 5 {
				t.Fatalf("creation took only %d changes", n)
			}
			return
		}
		if !errors.Is(err, errCrash) {
			t.Fatal(err)
		}
		v := volume(t, memory)
		create(t, v, topic, 0, 5)
		for partition := range topic.Partitions {
			if epoch, err := take(t, v, topic, partition); err != nil || epoch <= 5 {
				t.Fatalf("after a crash at change %d: epoch %d, error %v", n, epoch, err)
			}
		}
	}
}

func TestCreatedPartitionsSurviveAPowerCut(t *testing.T) {
	topic := topicdir.Topic{Name: "orders", ID: firstID, Partitions: 3}
	crash := vfs.NewCrash(0)
	create(t, volume(t, crash), topic, 0, 0)
	base := rand.Uint64()
	t.Logf("seed %d", base)
	for seed := range uint64(20) {
		v := volume(t, crash.PowerCut(vfs.SurviveSeeded(base+seed)))
		for partition := range topic.Partitions {
			if _, err := take(t, v, topic, partition); err != nil {
				t.Fatalf("seed %d: partition %d: %v", base+seed, partition, err)
			}
		}
	}
}

func Example() {
	_ = func(ctx context.Context, v *storage.Volume, topic topicdir.Topic, engine *storage.Engine) error {
		if err := topicdir.Create(ctx, v, topic, 0, 0); err != nil {
			return err
		}
		dir, err := topicdir.OpenPartition(v, topic, 0)
		if err != nil {
			return err
		}
		_, err = engine.Take(ctx, dir, storage.TakeOptions{Volume: v, Config: storage.DefaultConfig()})
		return err
	}
}

// The deletion of an earlier topic of the name may remove the directory that both are in, just before the new one's is made there.
func TestCreateOutlivesTheDeletionOfANamesake(t *testing.T) {
	memory := vfs.NewMem(0)
	removed := false
	faulty := vfs.NewFault(memory, func(op vfs.Op) error {
		if op.Kind != vfs.OpMkdir || op.After || op.Name != secondID.String() || removed {
			return nil
		}
		removed = true
		root, err := memory.OpenDir(".")
		if err != nil {
			return err
		}
		return errors.Join(root.Rmdir("orders"), root.Close())
	})
	v := volume(t, faulty)
	topic := topicdir.Topic{Name: "orders", ID: secondID, Partitions: 2}
	create(t, v, topic, 0, 0)
	if count, err := topicdir.Partitions(v, topic); err != nil || count != 2 || !removed {
		t.Fatalf("%d partitions, %v", count, err)
	}
}
