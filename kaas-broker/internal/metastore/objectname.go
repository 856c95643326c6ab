package metastore

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
)

// longestPlain is the longest topic name that serves as an object name. Kubernetes would allow 253 characters; a file of that name
// could not be written through a temporary one.
const longestPlain = 200

const syntheticPrefix = "kaas-topic-"

// subdomain is RFC 1123's, as Kubernetes wants object names.
var subdomain = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)

var synthetic = regexp.MustCompile(`^` + syntheticPrefix + `[0-9a-f]{16}$`)

// ObjectName is the name of a topic's KafkaTopic object: the topic's own where Kubernetes allows that, otherwise
// "kaas-topic-" and 16 hexadecimal digits that depend on nothing but the topic's name.
func ObjectName(topic string) string {
	if len(topic) <= longestPlain && subdomain.MatchString(topic) && !synthetic.MatchString(topic) {
		return topic
	}
	return syntheticName(topic)
}

func syntheticName(topic string) string {
	sum := sha256.Sum256([]byte(topic))
	return syntheticPrefix + hex.EncodeToString(sum[:8])
}
