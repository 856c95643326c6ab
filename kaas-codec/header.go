package codec

import (
	"encoding/binary"
	"fmt"
)

const apiVersionsKey = 18

// fixedHeader is key, version and correlation id, which every header starts with.
const fixedHeader = 8

// RequestHeader is what precedes each request body (Kafka's RequestHeader v0
// to v2). The tagged fields of v2 carry nothing that Kafka defines.
type RequestHeader struct {
	// Key and Version choose the layout of the body.
	Key, Version int16
	// CorrelationID is returned with the response, whatever its value.
	CorrelationID int32
	// ClientID is the name that the client gives itself, nil when it gives none.
	ClientID *string
}

// ParseRequestHeader splits a frame (without its size prefix) into header and
// body. The body is a part of frame, not a copy.
//
// A version outside the range of its key is not an error here: ApiVersions above
// its maximum is read with the newest header and must be answered. A key that
// the registry does not have is ErrUnknownKey; the header then has key, version
// and correlation id. Everything else that is wrong is a MalformedError.
func ParseRequestHeader(frame []byte) (RequestHeader, []byte, error) {
	if len(frame) < fixedHeader {
		return RequestHeader{}, nil, &MalformedError{Reason: "ends within the header"}
	}
	h := RequestHeader{
		Key:           int16(binary.BigEndian.Uint16(frame)),
		Version:       int16(binary.BigEndian.Uint16(frame[2:])),
		CorrelationID: int32(binary.BigEndian.Uint32(frame[4:])),
	}
	spec, known := Lookup(h.Key)
	if !known {
		return h, nil, fmt.Errorf("key %d version %d: %w", h.Key, h.Version, ErrUnknownKey)
	}
	scan := walker{rest: frame[fixedHeader:], budget: headerBudget}
	id, present := scan.nullableText()
	if present {
		clientID := string(id)
		h.ClientID = &clientID
	}
	// The client id keeps its 16-bit length in every header version: a broker
	// has to read it before it can know whether the version is flexible.
	if spec.Flexible(h.Version) {
		scan.tags(nil)
	}
	if scan.bad != "" {
		return h, nil, &MalformedError{Key: h.Key, Version: h.Version, Reason: "header: " + scan.bad}
	}
	return h, scan.rest, nil
}
