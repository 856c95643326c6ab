package metastore

import (
	"errors"
	"fmt"

	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
)

// What a caller branches on, besides catalog.ErrInvalidName and catalog.ErrReservedName.
var (
	// ErrTopicExists: there is a topic of that name (TOPIC_ALREADY_EXISTS).
	ErrTopicExists = errors.New("topic already exists")
	// ErrDeleting is an ErrTopicExists: a topic of that name is being deleted, and its name is not free yet.
	ErrDeleting = fmt.Errorf("%w: it is being deleted", ErrTopicExists)
	// ErrUnknownTopic: there is no topic of that name (UNKNOWN_TOPIC_OR_PARTITION).
	ErrUnknownTopic = errors.New("unknown topic")
	// ErrInvalidPartitions: the number of partitions is below one, too large, or not above the present one (INVALID_PARTITIONS).
	ErrInvalidPartitions = errors.New("invalid number of partitions")
	// ErrNoRoom: this broker cannot lead so many partitions (POLICY_VIOLATION).
	ErrNoRoom = errors.New("too many partitions for this broker")
	// ErrInvalidConfig: a configuration's name or value is not valid (INVALID_CONFIG).
	ErrInvalidConfig = errors.New("invalid configuration")
	// ErrCollision is a catalog.ErrInvalidName: the name differs from an existing topic's only in dots and underscores.
	ErrCollision = fmt.Errorf("%w: it collides with another topic's", catalog.ErrInvalidName)
	// ErrNotBegun: the caller's context ended while other changes were made; nothing was changed (REQUEST_TIMED_OUT).
	ErrNotBegun = errors.New("the change's turn did not come in time")
	// ErrManifest: the topic's manifest cannot be read now, so that a change cannot be written into it without losing what a
	// person may have begun there (POLICY_VIOLATION).
	ErrManifest = errors.New("the topic's manifest cannot be changed")
)
