package codec

import (
	"encoding/binary"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Tags of a partition in a Fetch response, v12 and above.
const (
	tagDivergingEpoch = 0
	tagCurrentLeader  = 1
	tagSnapshotID     = 2
)

// tagNodeEndpoints is the tag of a Fetch response itself, v16 and above.
const tagNodeEndpoints = 0

// partitionTags writes the tagged fields that differ from Kafka's defaults.
func (e *fetchEncoder) partitionTags(p *kmsg.FetchResponseTopicPartition) {
	diverging, leader, snapshot := &p.DivergingEpoch, &p.CurrentLeader, &p.SnapshotID
	hasDiverging := diverging.Epoch != -1 || diverging.EndOffset != -1 || diverging.UnknownTags.Len() > 0
	hasLeader := leader.LeaderID != -1 || leader.LeaderEpoch != -1 || leader.UnknownTags.Len() > 0
	hasSnapshot := snapshot.EndOffset != -1 || snapshot.Epoch != -1 || snapshot.UnknownTags.Len() > 0

	count := p.UnknownTags.Len()
	for _, has := range [...]bool{hasDiverging, hasLeader, hasSnapshot} {
		if has {
			count++
		}
	}
	e.uvarint(count)
	if hasDiverging {
		body := e.beginTag(tagDivergingEpoch)
		e.int32(diverging.Epoch)
		e.int64(diverging.EndOffset)
		e.unknownTags(&diverging.UnknownTags)
		e.endTag(body)
	}
	if hasLeader {
		body := e.beginTag(tagCurrentLeader)
		e.int32(leader.LeaderID)
		e.int32(leader.LeaderEpoch)
		e.unknownTags(&leader.UnknownTags)
		e.endTag(body)
	}
	if hasSnapshot {
		body := e.beginTag(tagSnapshotID)
		e.int64(snapshot.EndOffset)
		e.int32(snapshot.Epoch)
		e.unknownTags(&snapshot.UnknownTags)
		e.endTag(body)
	}
	e.dst = p.UnknownTags.AppendEach(e.dst)
}

// nodeEndpoints writes the addresses of the leaders named in the response
// (KIP-951).
func (e *fetchEncoder) nodeEndpoints(brokers []kmsg.FetchResponseBroker) {
	body := e.beginTag(tagNodeEndpoints)
	e.count(len(brokers))
	for i := range brokers {
		broker := &brokers[i]
		e.int32(broker.NodeID)
		e.text(broker.Host)
		e.int32(broker.Port)
		if broker.Rack == nil {
			e.count(-1)
		} else {
			e.text(*broker.Rack)
		}
		e.unknownTags(&broker.UnknownTags)
	}
	e.endTag(body)
}

// beginTag writes a tag and returns where its content begins.
func (e *fetchEncoder) beginTag(tag int) int {
	e.uvarint(tag)
	return len(e.dst)
}

// endTag puts the length of the content in front of it. The content moves by the
// few bytes of the length, because nothing says beforehand how long it gets.
func (e *fetchEncoder) endTag(begin int) {
	var prefix [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(prefix[:], uint64(len(e.dst)-begin))
	e.dst = append(e.dst, prefix[:n]...)
	copy(e.dst[begin+n:], e.dst[begin:len(e.dst)-n])
	copy(e.dst[begin:], prefix[:n])
}
