package api

import (
	"context"
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
	"github.com/kaas-rs/kaas/kaas-broker/internal/fetchsession"
	"github.com/kaas-rs/kaas/kaas-broker/internal/metastore"
	"github.com/kaas-rs/kaas/kaas-broker/internal/ownership"
	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-coordinator"
	"github.com/kaas-rs/kaas/kaas-coordinator/group"
	"github.com/kaas-rs/kaas/kaas-protocol"
	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/clusterdir"
)

// codes says which Kafka error stands for which Go error. The first row that errors.Is finds counts, so what wraps others comes first.
// A *kerr.Error in the chain stands for itself; what is in no row is UNKNOWN_SERVER_ERROR.
var codes = [...]struct {
	err  error
	code *kerr.Error
}{
	// ownership
	{ownership.ErrTakingOver, kerr.NotLeaderForPartition},
	{ownership.ErrUnavailable, kerr.KafkaStorageError},
	{ownership.ErrUnknownPartition, kerr.UnknownTopicOrPartition},
	// groups, whose errors wrap what happened to the slot's partition
	{coordinator.ErrMetadataTooLarge, kerr.OffsetMetadataTooLarge},
	{coordinator.ErrCommitTooLarge, kerr.InvalidCommitOffsetSize},
	{group.ErrNotAvailable, kerr.CoordinatorNotAvailable}, // may wrap what another coordinator has said
	{coordinator.ErrLoading, kerr.CoordinatorLoadInProgress},
	{coordinator.ErrNotCoordinator, kerr.NotCoordinator},
	{coordinator.ErrInvalidGroupID, kerr.InvalidGroupID},
	{coordinator.ErrNonEmptyGroup, kerr.NonEmptyGroup},
	{coordinator.ErrGroupNotFound, kerr.GroupIDNotFound},
	{coordinator.ErrSubscribed, kerr.GroupSubscribedToTopic},
	{coordinator.ErrUnstableOffset, kerr.UnstableOffsetCommit},
	{group.ErrIllegalGeneration, kerr.IllegalGeneration},
	{group.ErrInconsistentProtocol, kerr.InconsistentGroupProtocol},
	{group.ErrUnknownMember, kerr.UnknownMemberID},
	{group.ErrSessionTimeout, kerr.InvalidSessionTimeout},
	{group.ErrRebalancing, kerr.RebalanceInProgress},
	{group.ErrMemberIDRequired, kerr.MemberIDRequired},
	{group.ErrGroupMaxSize, kerr.GroupMaxSizeReached},
	{group.ErrFencedInstance, kerr.FencedInstanceID},
	// transactions
	{coordinator.ErrInvalidProducerEpoch, kerr.InvalidProducerEpoch}, // wraps that the producer was fenced
	{coordinator.ErrProducerFenced, kerr.ProducerFenced},
	{coordinator.ErrInvalidTransactionRequest, kerr.InvalidRequest},
	{coordinator.ErrInvalidTransactionState, kerr.InvalidTxnState},
	{coordinator.ErrInvalidProducerIDMapping, kerr.InvalidProducerIDMapping},
	{coordinator.ErrInvalidTransactionTimeout, kerr.InvalidTransactionTimeout},
	{coordinator.ErrConcurrentTransactions, kerr.ConcurrentTransactions},
	{coordinator.ErrTransactionalIDNotFound, kerr.TransactionalIDNotFound},
	// metadata store and catalog
	{metastore.ErrTopicExists, kerr.TopicAlreadyExists},
	{metastore.ErrUnknownTopic, kerr.UnknownTopicOrPartition},
	{metastore.ErrInvalidPartitions, kerr.InvalidPartitions},
	{metastore.ErrNoRoom, kerr.PolicyViolation},
	{metastore.ErrInvalidConfig, kerr.InvalidConfig},
	{metastore.ErrManifest, kerr.PolicyViolation},
	{clusterdir.ErrFenced, kerr.NotController}, // this process is about to end
	{catalog.ErrInvalidName, kerr.InvalidTopicException},
	{catalog.ErrReservedName, kerr.TopicAuthorizationFailed},
	// what producers send
	{batch.ErrCorrupt, kerr.CorruptMessage},
	{batch.ErrTooLarge, kerr.MessageTooLarge},
	{batch.ErrInvalidTimestamp, kerr.InvalidTimestamp},
	{batch.ErrUnsupportedFormat, kerr.UnsupportedForMessageFormat},
	{batch.ErrUnsupportedCompression, kerr.UnsupportedCompressionType},
	{batch.ErrInvalidRecord, kerr.InvalidRecord},
	{storage.ErrOutOfOrderSequence, kerr.OutOfOrderSequenceNumber},
	{storage.ErrProducerEpoch, kerr.InvalidProducerEpoch},
	{storage.ErrInvalidTransaction, kerr.InvalidTxnState},
	{storage.ErrCoordinatorEpoch, kerr.TransactionCoordinatorFenced},
	// the log
	{storage.ErrOffsetOutOfRange, kerr.OffsetOutOfRange},
	{storage.ErrFenced, kerr.NotLeaderForPartition},
	{storage.ErrClosed, kerr.NotLeaderForPartition},
	{storage.ErrDeleted, kerr.UnknownTopicOrPartition},
	{storage.ErrMoving, kerr.NotLeaderForPartition},
	{storage.ErrStalled, kerr.KafkaStorageError},
	{storage.ErrStorageFull, kerr.KafkaStorageError},
	{storage.ErrNoManifest, kerr.KafkaStorageError},
	{storage.ErrFutureVersion, kerr.KafkaStorageError},
	{storage.ErrForeignVolume, kerr.KafkaStorageError},
	// fetch sessions
	{fetchsession.ErrNotFound, kerr.FetchSessionIDNotFound},
	{fetchsession.ErrEpoch, kerr.InvalidFetchSessionEpoch},
	{fetchsession.ErrTopicIDs, kerr.FetchSessionTopicIDError},
	// time
	{protocol.ErrNoRoom, kerr.RequestTimedOut},
	{context.DeadlineExceeded, kerr.RequestTimedOut},
	{context.Canceled, kerr.RequestTimedOut}, // the client has left, and is not told
}

// codeOf is the Kafka error code of an error; 0 for nil.
func codeOf(err error) int16 {
	if err == nil {
		return 0
	}
	return kafkaError(err).Code
}

func kafkaError(err error) *kerr.Error {
	if own := (*kerr.Error)(nil); errors.As(err, &own) {
		return own
	}
	for i := range codes {
		if errors.Is(err, codes[i].err) {
			return codes[i].code
		}
	}
	if failed := (*storage.StorageError)(nil); errors.As(err, &failed) {
		return kerr.KafkaStorageError
	}
	if corrupt := (*storage.CorruptionError)(nil); errors.As(err, &corrupt) {
		return kerr.KafkaStorageError
	}
	return kerr.UnknownServerError
}

// oldestWithStorageError names, by API key, the first version whose clients know KAFKA_STORAGE_ERROR as retriable. Older ones are told
// NOT_LEADER_OR_FOLLOWER, which makes them try again too.
var oldestWithStorageError = map[int16]int16{keyProduce: 4, keyFetch: 6}

// codeFor is codeOf for a request of the given key and version.
func codeFor(key, version int16, err error) int16 {
	code := codeOf(err)
	if code == kerr.KafkaStorageError.Code && version < oldestWithStorageError[key] {
		return kerr.NotLeaderForPartition.Code
	}
	return code
}

// maxMessage bounds an error message, in bytes: old versions count them in 16 bits.
const maxMessage = 1024

// plainly is the code of an error with Kafka's own words for it.
func plainly(err error) (code int16, message *string) {
	known := kafkaError(err)
	return known.Code, shortened(known.Description)
}

// errorAt is one of several results, or the error of them all.
func errorAt(results []error, i int, whole error) error {
	if whole != nil {
		return whole
	}
	return results[i]
}

// messageOf is the text that goes with a code to the client; nil where the code says everything.
func messageOf(err error) *string {
	if _, bare := err.(*kerr.Error); bare { //nolint:errorlint // a wrapped one has more to say
		return nil
	}
	text := err.Error()
	if rejected := (*batch.RejectedError)(nil); errors.As(err, &rejected) {
		text = rejected.Message
	}
	return shortened(text)
}

func shortened(text string) *string {
	if len(text) > maxMessage {
		text = text[:maxMessage]
	}
	return &text
}
