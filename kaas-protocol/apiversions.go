package protocol

import (
	"context"
	"regexp"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Kafka error codes that the gate answers itself.
const (
	unsupportedVersion = 35
	invalidRequest     = 42
)

// softwareNamed is the form of a client's software name and version (KIP-511): letters, digits, dots and
// hyphens, beginning and ending with a letter or digit.
var softwareNamed = regexp.MustCompile(`^[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?$`)

// startAPIVersions answers ApiVersions v0 to v3 with the keys that have a handler. It may be asked any number
// of times, before authentication too. Finalized features are not sent: no client needs one from a broker that
// has none.
func (g *gate) startAPIVersions(ctx context.Context, r *Request) FinishFunc {
	request := r.Message.(*kmsg.ApiVersionsRequest)
	response := kmsg.NewPtrApiVersionsResponse()
	response.Version = request.Version
	if request.Version >= 3 {
		if !softwareNamed.MatchString(request.ClientSoftwareName) || !softwareNamed.MatchString(request.ClientSoftwareVersion) {
			response.ErrorCode = invalidRequest
			return answer(response)
		}
		r.Conn.SetClientSoftware(request.ClientSoftwareName, request.ClientSoftwareVersion)
		g.meters.introduced(ctx, request.ClientSoftwareName, request.ClientSoftwareVersion)
	}
	for _, spec := range g.advertised {
		response.ApiKeys = append(response.ApiKeys, versionRow(spec.Key, spec.MinVersion, spec.MaxVersion))
	}
	return answer(response)
}

// startRefusedVersion answers ApiVersions at a version that is not served: error 35 in the layout of version
// 0, which every client reads, with the range to try again with (Kafka's RequestContext).
func (g *gate) startRefusedVersion(context.Context, *Request) FinishFunc {
	response := kmsg.NewPtrApiVersionsResponse()
	response.ErrorCode = unsupportedVersion
	spec := g.refusedVersion.spec
	response.ApiKeys = append(response.ApiKeys, versionRow(spec.Key, spec.MinVersion, spec.MaxVersion))
	return answer(response)
}

func versionRow(key, lowest, highest int16) kmsg.ApiVersionsResponseApiKey {
	row := kmsg.NewApiVersionsResponseApiKey()
	row.ApiKey, row.MinVersion, row.MaxVersion = key, lowest, highest
	return row
}

// answer is a request that was complete when it started.
func answer(response kmsg.Response) FinishFunc {
	return func(context.Context) (Reply, error) { return Reply{Message: response, Recycle: true}, nil }
}
