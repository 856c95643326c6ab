package broker_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	broker "github.com/kaas-rs/kaas/kaas-broker"
	"github.com/kaas-rs/kaas/kaas-coordinator/slot"
	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// A broker is ready when its partitions are, not before it has looked at them, and no longer once it drains.
func TestReadyMeansServed(t *testing.T) {
	memory := vfs.NewMem(16 << 20)
	before := open(t, broker.Options{Memory: memory})
	if err := before.Ready(); err == nil || !strings.Contains(err.Error(), "4 to go") {
		t.Errorf("before the coordinator's slots are taken: %v", err)
	}
	stop := serve(t, before)
	awaitReady(t, before)
	if err := before.CreateTopic(within(t), "orders", 3, nil); err != nil {
		t.Fatal(err)
	}
	if err := before.Ready(); err != nil {
		t.Errorf("with all partitions served: %v", err)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if err := before.Ready(); err == nil {
		t.Error("ready after a drain")
	}

	after := open(t, broker.Options{Memory: memory})
	report := after.Report()
	if report.Topics != 1 || report.PartitionsAssigned != 3 || report.PartitionsRecovering != 3 || report.PartitionsLed != 0 {
		t.Errorf("before it runs: %+v", report)
	}
	if err := after.Ready(); err == nil || !strings.Contains(err.Error(), "7 to go") {
		t.Errorf("before it runs: %v", err)
	}
	serve(t, after)
	awaitReady(t, after)
	if report := after.Report(); report.PartitionsLed != 3 || report.PartitionsRecovering != 0 || report.SlotsLed != slot.DefaultCount || report.Status != "ok" {
		t.Errorf("when it is ready: %+v", report)
	}
}

// A partition that cannot be taken over is told, and does not hold the broker back.
func TestFailedPartitionIsToldAndReady(t *testing.T) {
	memory := vfs.NewMem(16 << 20)
	before := open(t, broker.Options{Memory: memory})
	stop := serve(t, before)
	if err := before.CreateTopic(within(t), "orders", 2, nil); err != nil {
		t.Fatal(err)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	var broken atomic.Bool
	broken.Store(true)
	after := open(t, broker.Options{Memory: memory, WrapFS: func(fs vfs.FS) vfs.FS {
		return vfs.NewFault(fs, func(op vfs.Op) error {
			if broken.Load() && op.Kind == vfs.OpMkdir && strings.HasSuffix(op.Path, "/1") {
				return errBroken
			}
			return nil
		})
	}})
	serve(t, after)
	awaitReady(t, after)
	report := after.Report()
	if report.Status != "degraded" || report.PartitionsLed != 1 || report.SlotsLed != slot.DefaultCount-1 || len(report.PartitionsFailed) != 2 {
		t.Fatalf("%+v", report)
	}
	for i, partition := range []string{"orders-1", "coordinator-1"} {
		if failed := report.PartitionsFailed[i]; failed.Partition != partition || !strings.Contains(failed.Reason, errBroken.Error()) {
			t.Errorf("%+v", failed)
		}
	}
	broken.Store(false)
	for deadline := time.Now().Add(patience); after.Report().Status != "ok"; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not tried again: %+v", after.Report())
		}
	}
}

// A slot whose records were written by later software is led, but nobody is served from it: the report says so and why.
func TestSlotThatCannotBeReplayedIsTold(t *testing.T) {
	memory := vfs.NewMem(16 << 20)
	before := open(t, broker.Options{Memory: memory})
	stop := serve(t, before)
	awaitReady(t, before)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	appendToSlot(t, memory, slot.Record{Key: slot.GroupKey("g"), Value: []byte(`{"version":2}`)})
	after := open(t, broker.Options{Memory: memory})
	serve(t, after)
	for deadline := time.Now().Add(patience); len(after.Report().Problems) == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("nothing is told: %+v", after.Report())
		}
	}
	report := after.Report()
	if told := report.Problems[0]; report.Status != "degraded" || !strings.Contains(told, fmt.Sprintf("slot %d", slot.Of("g", slot.DefaultCount))) || !strings.Contains(told, "group record has version 2") {
		t.Errorf("%s: %q", report.Status, report.Problems)
	}
}

// appendToSlot appends a record to its slot in the directory of a broker that has ended.
func appendToSlot(t *testing.T, memory vfs.FS, record slot.Record) {
	t.Helper()
	engine, err := storage.NewEngine(storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	dir, err := memory.OpenDir("__cluster/__coordinator/" + slot.DirName(slot.Of(record.Key.ID, slot.DefaultCount)))
	if err != nil {
		t.Fatal(err)
	}
	partition, err := engine.Take(t.Context(), dir, storage.TakeOptions{Label: "slot", Config: slot.Config()})
	if err != nil {
		t.Fatal(err)
	}
	s, err := slot.Open(t.Context(), partition, func(slot.Record, int64) error { return nil }, slot.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.Lock()
	pending, err := s.Append(record)
	s.Unlock()
	s.Close()
	if err := errors.Join(err, pending.Wait(t.Context()), partition.Handover(t.Context())); err != nil {
		t.Fatal(err)
	}
}

func awaitReady(t *testing.T, b *broker.Broker) {
	t.Helper()
	for deadline := time.Now().Add(patience); b.Ready() != nil; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not ready: %v", b.Ready())
		}
	}
}
