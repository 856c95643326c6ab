package protocol_test

import (
	"context"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-protocol"
)

func TestApiVersionsAndOneHandler(t *testing.T) {
	server := serve(t, protocol.Config{APIs: []protocol.API{metadata()}})
	client := dial(t, server)

	versions := kmsg.NewPtrApiVersionsRequest()
	versions.Version = 3
	versions.ClientSoftwareName, versions.ClientSoftwareVersion = "kaas-test", "1.0"
	answer := call[*kmsg.ApiVersionsResponse](client, versions)
	if answer.ErrorCode != 0 || len(answer.ApiKeys) != 2 {
		t.Fatalf("error %d, keys %v; want Metadata and ApiVersions", answer.ErrorCode, answer.ApiKeys)
	}
	request := kmsg.NewPtrMetadataRequest()
	request.Version = 12
	got := call[*kmsg.MetadataResponse](client, request)
	if got.ClusterID == nil || *got.ClusterID != "test" {
		t.Fatalf("cluster id %v, want the handler's", got.ClusterID)
	}
}

// metadata is a handler that answers at once.
func metadata() protocol.API {
	return protocol.API{Key: 3, Start: func(_ context.Context, r *protocol.Request) protocol.FinishFunc {
		return func(context.Context) (protocol.Reply, error) { return protocol.Reply{Message: metadataAnswer(r)}, nil }
	}}
}

func metadataAnswer(r *protocol.Request) *kmsg.MetadataResponse {
	response := r.Message.ResponseKind().(*kmsg.MetadataResponse)
	id := "test"
	response.ClusterID = &id
	return response
}

// patience bounds every wait of these tests for something that must happen.
const patience = 10 * time.Second
