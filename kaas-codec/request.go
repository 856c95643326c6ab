package codec

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// DecodeRequest decodes a body that ParseRequestHeader returned. The guard walks
// the body first, so that decoding takes memory in proportion to the bytes that
// are there and not to what they claim. Byte fields (the records of Produce) are
// parts of body, which must not change while the message is in use; strings are
// copies. Bytes after the end of the message are ignored, as Kafka does.
//
// Where kmsg reads something otherwise than Kafka, the message says what Kafka
// would read: Topics of Metadata v0 is nil (all topics) when the array is empty,
// and AllowAutoTopicCreation is true below v4.
//
// Errors: ErrUnknownKey, ErrUnsupportedVersion, ErrNoSchema for a registered key
// that cannot be decoded yet, and MalformedError.
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
// does not have.
func readAsKafka(request kmsg.Request) {
	metadata, is := request.(*kmsg.MetadataRequest)
	if !is {
		return
	}
	if metadata.Version == 0 && len(metadata.Topics) == 0 {
		metadata.Topics = nil
	}
	if metadata.Version < 4 {
		metadata.AllowAutoTopicCreation = true
	}
}
