package group

import (
	"encoding/binary"
	"maps"
	"slices"
)

// consumerType is the protocol type whose metadata names topics.
const consumerType = "consumer"

// subscription is the topics that the members of a group consume, as far as they are known.
type subscription struct {
	known  bool
	topics map[string]struct{}
}

// IsConsumer reports whether the members are consumers, whose metadata names the topics.
func (m *Machine) IsConsumer() bool { return m.protocolType == consumerType }

// Subscribes reports whether a member may consume the topic. It is true when the topics are not known.
func (m *Machine) Subscribes(topic string) bool {
	_, named := m.topics.topics[topic]
	return named || !m.topics.known
}

// Topics returns the topics that members of a consumer group subscribe to, sorted; known is false for other groups, and when metadata cannot
// be read.
func (m *Machine) Topics() (topics []string, known bool) {
	return slices.Sorted(maps.Keys(m.topics.topics)), m.topics.known
}

// subscribed reads the topics of the chosen protocol's metadata.
func (m *Machine) subscribed() subscription {
	if m.protocolType != consumerType {
		return subscription{}
	}
	topics := make(map[string]struct{})
	for _, member := range m.members.order {
		if !addTopics(topics, member.metadata(m.protocol)) {
			return subscription{}
		}
	}
	return subscription{known: true, topics: topics}
}

// addTopics reads the front of a ConsumerProtocolSubscription, which is the same in all of its versions: version, then an array of topics.
func addTopics(topics map[string]struct{}, metadata []byte) bool {
	if len(metadata) < 6 || int16(binary.BigEndian.Uint16(metadata)) < 0 {
		return false
	}
	count := int32(binary.BigEndian.Uint32(metadata[2:]))
	rest := metadata[6:]
	for ; count > 0; count-- {
		if len(rest) < 2 {
			return false
		}
		length := int(int16(binary.BigEndian.Uint16(rest)))
		rest = rest[2:]
		if length < 0 || length > len(rest) {
			return false
		}
		topics[string(rest[:length])] = struct{}{}
		rest = rest[length:]
	}
	return true
}
