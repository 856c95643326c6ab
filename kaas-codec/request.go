package codec

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// DecodeRequest decodes a body that ParseRequestHeader returned. The guard walks
// the body first, so that decoding takes memory in proportion to the bytes that
// are there and not to what they claim. Byte fields (records, what members tell
// their group, credentials) are parts of body, which must not change while the
// message is in use; strings are copies. Bytes after the end of the message are
// ignored, as Kafka does.
//
// Where kmsg reads something otherwise than Kafka, the message says what Kafka
// would read: Topics of Metadata v0 is nil (all topics) when the array is empty,
// and AllowAutoTopicCreation is true below v4; Topics of OffsetFetch is empty, not
// nil, from v8 on, where Groups has them; the rebalance timeout of JoinGroup v0 is
// the session timeout; UpgradeType of UpdateFeatures v0 follows AllowDowngrade.
//
// Errors: ErrUnknownKey, ErrUnsupportedVersion, ErrNoSchema for a registered key
// without a schema (there is none at present), and MalformedError.
func DecodeRequest(h RequestHeader, body []byte) (kmsg.Request, error) {
	spec, known := Lookup(h.Key)
	if !known {
		return nil, fmt.Errorf("key %d version %d: %w", h.Key, h.Version, ErrUnknownKey)
	}
	if !spec.Supports(h.Version) {
		return nil, fmt.Errorf("%s version %d: %w", spec.Name, h.Version, ErrUnsupportedVersion)
	}
	if err := guard(spec, h.Version, body); err != nil {
		return nil, err
	}
	request := kmsg.RequestForKey(h.Key)
	request.SetVersion(h.Version)
	if err := request.ReadFrom(body); err != nil {
		return nil, &MalformedError{Key: h.Key, Version: h.Version, Reason: err.Error()}
	}
	readAsKafka(request)
	return request, nil
}

// guard checks the body along its schema before anything is allocated for it.
func guard(spec ApiSpec, version int16, body []byte) error {
	schema, described := schemas[spec.Key]
	if !described {
		return fmt.Errorf("%s version %d: %w", spec.Name, version, ErrNoSchema)
	}
	scan := walker{
		rest:     body,
		version:  version,
		flexible: spec.Flexible(version),
		budget:   budgetBase + budgetPerByte*int64(len(body)),
	}
	scan.record(schema)
	if scan.bad != "" {
		return &MalformedError{Key: spec.Key, Version: version, Reason: scan.bad}
	}
	return nil
}

// readAsKafka mends what kmsg fills in differently for fields that the version
// does not have. Kafka does some of this in its request classes (MetadataRequest,
// JoinGroupRequest, UpdateFeaturesRequest), the rest is defaults of the messages.
func readAsKafka(request kmsg.Request) {
	switch r := request.(type) {
	case *kmsg.MetadataRequest:
		if r.Version == 0 && len(r.Topics) == 0 {
			r.Topics = nil
		}
		if r.Version < 4 {
			r.AllowAutoTopicCreation = true
		}
	case *kmsg.OffsetFetchRequest:
		if r.Version >= 8 { // nil would be all topics
			r.Topics = []kmsg.OffsetFetchRequestTopic{}
		}
	case *kmsg.JoinGroupRequest:
		if r.Version == 0 {
			r.RebalanceTimeoutMillis = r.SessionTimeoutMillis
		}
	case *kmsg.UpdateFeaturesRequest:
		if r.Version == 0 {
			chooseUpgradeTypes(r.FeatureUpdates)
		}
	}
}

// Codes of Kafka's FeatureUpdate.UpgradeType.
const (
	upgrade       = 1
	safeDowngrade = 2
)

// chooseUpgradeTypes says as later versions do what v0 says with a boolean.
func chooseUpgradeTypes(updates []kmsg.UpdateFeaturesRequestFeatureUpdate) {
	for i := range updates {
		updates[i].UpgradeType = upgrade
		if updates[i].AllowDowngrade {
			updates[i].UpgradeType = safeDowngrade
		}
	}
}
