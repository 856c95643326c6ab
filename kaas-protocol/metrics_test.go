package protocol_test

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-protocol"
)

func TestMetrics(t *testing.T) {
	counted := newCounts()
	fetches := newParked()
	server := serve(t, protocol.Config{APIs: []protocol.API{metadata(), fetches.api(), throttling(produce(nil), 2*time.Second)}, MeterProvider: counted})
	client := dial(t, server)
	versions := kmsg.NewPtrApiVersionsRequest()
	versions.Version, versions.ClientSoftwareName, versions.ClientSoftwareVersion = 3, "tester", "2"
	call[*kmsg.ApiVersionsResponse](client, versions)
	fetches.let <- fetchAnswer(memorySection(make([]byte, 1000)))
	call[*kmsg.FetchResponse](client, fetchRequest())
	call[*kmsg.MetadataResponse](client, metadataRequest())
	call[*kmsg.ProduceResponse](client, produceRequest(1, 5000))

	refused := dial(t, server)
	refused.write(raw(3, 1, 1, 0, 0))
	refused.closed()
	server.Close()

	for _, want := range []struct {
		name, values string
		least, most  int64
	}{
		{"kaas.connections.accepted", "PLAINTEXT", 2, 2},
		{"kaas.connections", "PLAINTEXT", 0, 0},
		{"kaas.connections.closed", "PLAINTEXT,refused", 1, 1},
		{"kaas.connections.closed", "PLAINTEXT,shutdown", 1, 1},
		{"kaas.requests", "Fetch,12", 1, 1},
		{"kaas.requests", "Metadata,9", 1, 1},
		{"kaas.requests", "ApiVersions,3", 1, 1},
		{"kaas.request.duration", "Fetch", 1, 1},
		{"kaas.request.errors", "Metadata,refused", 1, 1},
		{"kaas.request.throttle", "Produce", 2, 2},
		{"kaas.network.received", "Produce", 5000, 5100},
		{"kaas.network.sent", "Fetch", 1000, 1200},
		{"kaas.client.software", "tester,2", 1, 1},
	} {
		if got := counted.sum(want.name, want.values); got < want.least || got > want.most {
			t.Errorf("%s{%s} = %d, want %d to %d", want.name, want.values, got, want.least, want.most)
		}
	}
}
