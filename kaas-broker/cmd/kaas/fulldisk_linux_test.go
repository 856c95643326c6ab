package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// smallVolume is a file system of 40 MiB, mounted until the test ends.
func smallVolume(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	mount(t, "tmpfs", dir, "tmpfs", 0, "size=40m")
	return dir
}

var reserve = []string{"--override", "kaas.storage.reserve.bytes=4194304"}

// fill takes all space that is left, as a neighbor on the volume would, and returns how to give it back.
func fill(t *testing.T, dir string) (giveBack func()) {
	t.Helper()
	path := filepath.Join(dir, "neighbor")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for size := 1 << 20; size >= 512; size /= 2 {
		for err = nil; err == nil; {
			_, err = file.Write(make([]byte, size))
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
	}
	return func() {
		if err := os.Remove(path); err != nil {
			t.Error(err)
		}
	}
}

// refusedAsFull waits until Produce answers KAFKA_STORAGE_ERROR.
func refusedAsFull(t *testing.T, client *kgo.Client, topic string) {
	t.Helper()
	eventually(t, "Produce is refused", func() bool {
		code, err := produceOnce(t, client, topic, "no room")
		if err != nil {
			t.Fatal(err)
		}
		return code == kerr.KafkaStorageError.Code
	})
}

func TestFullDisk(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(p *process, t *testing.T){"restart": (*process).stop, "kill -9": (*process).kill} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := smallVolume(t)
			arguments := append([]string{"--data-dir", dir}, reserve...)
			p := start(t, arguments...)
			client := newClient(t, p.address)
			produce(t, client, "orders", numbers(0, 100)...)
			giveBack := fill(t, dir)
			refusedAsFull(t, client, "orders")
			eventually(t, "healthz tells", func() bool { _, body := p.get(t, "/healthz"); return strings.Contains(body, `"storage_full": true`) })
			written := contents(t, p.address, "orders")
			if !slices.Equal(written[:100], numbers(0, 100)) {
				t.Errorf("read %q from a full disk", written)
			}

			end(p, t)
			p = start(t, arguments...)
			client = newClient(t, p.address)
			if got := contents(t, p.address, "orders"); !slices.Equal(got, written) {
				t.Errorf("read %q from a full disk after a restart, before it %q", got, written)
			}
			refusedAsFull(t, client, "orders")

			giveBack()
			produce(t, client, "orders", "room again")
			if got := contents(t, p.address, "orders"); !slices.Equal(got[:len(written)], written) || got[len(got)-1] != "room again" {
				t.Errorf("read %q", got)
			}
			p.stop(t)
		})
	}
}

// The cluster directory on a volume of its own does not care that the data volume is full.
func TestClusterDirectoryBesideAFullDisk(t *testing.T) {
	t.Parallel()
	dir, cluster := smallVolume(t), t.TempDir()
	arguments := append([]string{"--data-dir", dir, "--cluster-dir", cluster}, reserve...)
	p := start(t, arguments...)
	client := newClient(t, p.address)
	produce(t, client, "orders", numbers(0, 10)...)
	before := newProducerID(t, client)
	fill(t, dir)
	refusedAsFull(t, client, "orders")
	p.kill(t)
	p = start(t, arguments...)
	client = newClient(t, p.address)
	if after := newProducerID(t, client); after/1000 <= before/1000 {
		t.Errorf("producer id %d after %d", after, before)
	}
	setConfig(t, client, "orders", "retention.ms", "7200000")
	text, err := os.ReadFile(filepath.Join(cluster, "topics", "orders.yaml"))
	if err != nil || !strings.Contains(string(text), "7200000") {
		t.Errorf("the manifest does not have the new retention: %v\n%s", err, text)
	}
	if got := contents(t, p.address, "orders"); !slices.Equal(got[:10], numbers(0, 10)) {
		t.Errorf("read %q", got)
	}
	p.stop(t)
}

// The coordinator's slots lie in the cluster directory. Where that is on a volume of its own, what counts is the room on that one.
func TestCoordinatorOnAVolumeOfItsOwn(t *testing.T) {
	t.Parallel()
	t.Run("the data volume is full", func(t *testing.T) {
		t.Parallel()
		dir, cluster := smallVolume(t), t.TempDir()
		p := start(t, append([]string{"--data-dir", dir, "--cluster-dir", cluster}, reserve...)...)
		client := newClient(t, p.address)
		produce(t, client, "orders", "a")
		fill(t, dir)
		refusedAsFull(t, client, "orders")
		if code := commitOffset(t, client, "orders"); code != 0 {
			t.Errorf("commit: %v", kerr.ErrorForCode(code))
		}
		p.stop(t)
	})
	t.Run("the cluster volume is full", func(t *testing.T) {
		t.Parallel()
		dir, cluster := t.TempDir(), smallVolume(t)
		p := start(t, append([]string{"--data-dir", dir, "--cluster-dir", cluster}, reserve...)...)
		client := newClient(t, p.address)
		produce(t, client, "orders", "a")
		if code := commitOffset(t, client, "orders"); code != 0 {
			t.Errorf("commit: %v", kerr.ErrorForCode(code))
		}
		giveBack := fill(t, cluster)
		eventually(t, "commits are refused", func() bool { return commitOffset(t, client, "orders") == kerr.CoordinatorNotAvailable.Code })
		eventually(t, "healthz tells", func() bool { _, body := p.get(t, "/healthz"); return strings.Contains(body, `"storage_full": true`) })
		produce(t, client, "orders", "b")
		giveBack()
		eventually(t, "commits are taken again", func() bool { return commitOffset(t, client, "orders") == 0 })
		if got := contents(t, p.address, "orders"); !slices.Equal(got, []string{"a", "b"}) {
			t.Errorf("read %q", got)
		}
		p.stop(t)
	})
}

// commitOffset commits an offset of nobody in particular, and returns what the coordinator answers.
func commitOffset(t *testing.T, client *kgo.Client, topic string) int16 {
	t.Helper()
	request := kmsg.NewPtrOffsetCommitRequest()
	request.Version, request.Group, request.Generation = 8, "readers", -1
	partition := kmsg.NewOffsetCommitRequestTopicPartition()
	partition.Offset = 1
	request.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: topic, Partitions: []kmsg.OffsetCommitRequestTopicPartition{partition}}}
	response, err := client.SeedBrokers()[0].Request(within(t), request)
	if err != nil {
		t.Fatal(err)
	}
	return response.(*kmsg.OffsetCommitResponse).Topics[0].Partitions[0].ErrorCode
}

func setConfig(t *testing.T, client *kgo.Client, topic, name, value string) {
	t.Helper()
	config := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
	config.Name, config.Value = name, &value
	resource := kmsg.NewIncrementalAlterConfigsRequestResource()
	resource.ResourceType, resource.ResourceName = kmsg.ConfigResourceTypeTopic, topic
	resource.Configs = []kmsg.IncrementalAlterConfigsRequestResourceConfig{config}
	request := kmsg.NewPtrIncrementalAlterConfigsRequest()
	request.Resources = []kmsg.IncrementalAlterConfigsRequestResource{resource}
	response, err := client.SeedBrokers()[0].Request(within(t), request)
	if err != nil {
		t.Fatal(err)
	}
	if answer := response.(*kmsg.IncrementalAlterConfigsResponse).Resources[0]; answer.ErrorCode != 0 {
		t.Errorf("set %s: %v", name, kerr.ErrorForCode(answer.ErrorCode))
	}
}
