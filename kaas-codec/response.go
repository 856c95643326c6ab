package codec

import (
	"encoding/binary"

	"github.com/twmb/franz-go/pkg/kmsg"
)

const sizePrefix = 4

// AppendResponse appends a complete response to dst: size prefix, response
// header, and the body at the version that resp has, which for the answer to an
// ApiVersions request above our maximum is 0 and otherwise that of the request.
//
// The header is v1 (correlation id and an empty tag buffer) for flexible
// versions and v0 for others. ApiVersions always has v0, because a client reads
// it before it knows which versions the broker speaks (KIP-511).
//
// Leader hints of Produce below v10 and Fetch below v16 are removed from resp.
func AppendResponse(dst []byte, h RequestHeader, resp kmsg.Response) []byte {
	start := len(dst)
	dst = appendResponseHeader(dst, h, resp)
	dropFieldsOfLaterVersions(resp)
	dst = resp.AppendTo(dst)
	binary.BigEndian.PutUint32(dst[start:], uint32(len(dst)-start-sizePrefix))
	return dst
}

// appendResponseHeader leaves room for the size prefix.
func appendResponseHeader(dst []byte, h RequestHeader, resp kmsg.Response) []byte {
	dst = append(dst, 0, 0, 0, 0)
	dst = binary.BigEndian.AppendUint32(dst, uint32(h.CorrelationID))
	if resp.IsFlexible() && resp.Key() != apiVersionsKey {
		dst = append(dst, 0)
	}
	return dst
}

// dropFieldsOfLaterVersions resets tagged fields that the version does not have.
// kmsg would write them, and a Java client that knows the tag refuses it there.
func dropFieldsOfLaterVersions(resp kmsg.Response) {
	switch r := resp.(type) {
	case *kmsg.ProduceResponse:
		if r.Version < 10 {
			dropLeaderHints(r)
		}
	case *kmsg.FetchResponse:
		if r.Version < 16 {
			r.Brokers = nil
		}
	}
}

// dropLeaderHints removes what KIP-951 added to Produce in v10.
func dropLeaderHints(r *kmsg.ProduceResponse) {
	r.Brokers = nil
	for t := range r.Topics {
		partitions := r.Topics[t].Partitions
		for p := range partitions {
			partitions[p].CurrentLeader = kmsg.NewProduceResponseTopicPartitionCurrentLeader()
		}
	}
}
