package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// topicConfig is a topic's setting as DescribeConfigs tells it.
func topicConfig(t *testing.T, client *kgo.Client, topic, name string) string {
	t.Helper()
	resource := kmsg.NewDescribeConfigsRequestResource()
	resource.ResourceType, resource.ResourceName, resource.ConfigNames = kmsg.ConfigResourceTypeTopic, topic, []string{name}
	request := kmsg.NewPtrDescribeConfigsRequest()
	request.Resources = []kmsg.DescribeConfigsRequestResource{resource}
	response, err := client.SeedBrokers()[0].Request(within(t), request)
	if err != nil {
		t.Fatal(err)
	}
	row := response.(*kmsg.DescribeConfigsResponse).Resources[0]
	if row.ErrorCode != 0 || len(row.Configs) != 1 || row.Configs[0].Value == nil {
		t.Fatalf("%s of %s: %v with %d values", name, topic, kerr.ErrorForCode(row.ErrorCode), len(row.Configs))
	}
	return *row.Configs[0].Value
}

// A topic's manifest is a file that people edit while the broker runs.
func TestEditedManifestTakesEffect(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cluster := filepath.Join(dir, "__cluster")
	p := start(t, "--data-dir", dir)
	client := newClient(t, p.address, kgo.ProducerBatchCompression(kgo.NoCompression()))
	large := strings.Repeat("x", 2000)
	produce(t, client, "orders", large)

	manifest(t, cluster, "orders", 1, "retention.ms: 7200000, max.message.bytes: 1000")
	eventually(t, "new retention", func() bool { return topicConfig(t, client, "orders", "retention.ms") == "7200000" })
	if code, err := produceOnce(t, client, "orders", large); err != nil || code != kerr.MessageTooLarge.Code {
		t.Errorf("large record: %v, %v", kerr.ErrorForCode(code), err)
	}
	// A file that appears is a topic that appears.
	manifest(t, cluster, "payments", 2, "")
	eventually(t, "new topic", func() bool { code, err := produceOnce(t, client, "payments", "x"); return err == nil && code == 0 })
	p.stop(t)
}

// What is wrong with a manifest changes nothing, is told by /healthz, and ends when the manifest is mended.
func TestBrokenManifestsDeleteNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "__cluster", "topics", "orders.yaml")
	p := start(t, "--data-dir", dir)
	client := newClient(t, p.address)
	produce(t, client, "orders", numbers(0, 10)...)
	healthy, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, trouble := range []struct {
		name, problem string
		cause         func()
	}{
		{"not YAML", "orders.yaml", func() { write(t, file, "]") }},
		{"a value that is none", "retention.ms", func() { manifest(t, filepath.Join(dir, "__cluster"), "orders", 1, "retention.ms: soon") }},
		{"gone", "topic orders: manifest is missing", func() {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		trouble.cause()
		eventually(t, trouble.name, func() bool {
			_, body := p.get(t, "/healthz")
			return strings.Contains(body, trouble.problem) && strings.Contains(body, `"status": "degraded"`)
		})
		if got := contents(t, p.address, "orders"); !slices.Equal(got, numbers(0, 10)) {
			t.Errorf("%s: read %q", trouble.name, got)
		}
	}
	p.stop(t)
	p = start(t, "--data-dir", dir)
	if got := contents(t, p.address, "orders"); !slices.Equal(got, numbers(0, 10)) {
		t.Errorf("without the manifest, after a restart: read %q", got)
	}
	write(t, file, string(healthy))
	eventually(t, "healthy again", func() bool { _, body := p.get(t, "/healthz"); return strings.Contains(body, `"status": "ok"`) })
	p.stop(t)
}
