package protocol

import (
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-codec"
)

// Keys that the gate itself knows.
const (
	keyProduce          = 0
	keySaslHandshake    = 17
	keyAPIVersions      = 18
	keySaslAuthenticate = 36
)

var (
	errNotAuthenticated = errors.New("request before authentication")
	errNoHandler        = errors.New("request without a handler")
)

// gate decides, for each frame, which row of the API table runs, or that the connection has to be closed.
type gate struct {
	rows       map[int16]*row
	advertised []codec.ApiSpec
	meters     *meters
	// refusedVersion answers ApiVersions at a version that is not served.
	refusedVersion *row
}

// row is an API with what the registry says about its key.
type row struct {
	API
	spec  codec.ApiSpec
	meter *apiMeter
}

// newGate builds the table. Rows must have been checked by Config.validate.
func newGate(apis []API, m *meters) *gate {
	g := &gate{rows: make(map[int16]*row, len(apis)+1), meters: m}
	for _, api := range apis {
		g.add(api, m)
	}
	g.add(API{Key: keyAPIVersions, BeforeAuth: true, Start: g.startAPIVersions}, m)
	answer := *g.rows[keyAPIVersions]
	answer.Start = g.startRefusedVersion
	g.refusedVersion = &answer
	for _, spec := range codec.Specs() {
		if _, handled := g.rows[spec.Key]; handled {
			g.advertised = append(g.advertised, spec)
		}
	}
	return g
}

func (g *gate) add(api API, m *meters) {
	spec, _ := codec.Lookup(api.Key)
	g.rows[api.Key] = &row{API: api, spec: spec, meter: m.forAPI(spec)}
}

// find reads the header of a frame and chooses its row. Every error closes the connection, as Kafka does for
// keys it does not have and versions it does not serve.
func (g *gate) find(frame []byte) (*row, codec.RequestHeader, []byte, error) {
	header, body, err := codec.ParseRequestHeader(frame)
	if err != nil {
		return nil, header, nil, err
	}
	found := g.rows[header.Key]
	switch {
	case found == nil:
		return nil, header, nil, fmt.Errorf("key %d version %d: %w", header.Key, header.Version, errNoHandler)
	case found.spec.Supports(header.Version):
		return found, header, body, nil
	case header.Key == keyAPIVersions:
		return g.refusedVersion, header, nil, nil
	default:
		return nil, header, nil, fmt.Errorf("%s version %d: %w", found.spec.Name, header.Version, codec.ErrUnsupportedVersion)
	}
}

// decode reads the body for a row. ApiVersions at a version that is not served has no body to read.
func (g *gate) decode(chosen *row, header codec.RequestHeader, body []byte) (kmsg.Request, error) {
	if chosen == g.refusedVersion {
		return nil, nil
	}
	return codec.DecodeRequest(header, body)
}

// admit refuses what an unauthenticated connection may not ask. It is looked at when every earlier request
// that could have authenticated the connection has been answered.
func (r *row) admit(authenticated bool) error {
	if authenticated || r.BeforeAuth {
		return nil
	}
	return fmt.Errorf("%s: %w", r.spec.Name, errNotAuthenticated)
}
