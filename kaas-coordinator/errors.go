package coordinator

import (
	"context"
	"errors"
	"fmt"

	"github.com/kaas-rs/kaas/kaas-coordinator/group"
	"github.com/kaas-rs/kaas/kaas-coordinator/txn"
	"github.com/kaas-rs/kaas/kaas-storage"
)

// What a caller branches on beside the errors of packages group and txn. Each stands for one Kafka error code.
var (
	// ErrMetadataTooLarge is OFFSET_METADATA_TOO_LARGE (12).
	ErrMetadataTooLarge = errors.New("metadata of the offset is too large")
	// ErrLoading is COORDINATOR_LOAD_IN_PROGRESS (14): the slot is being replayed.
	ErrLoading = errors.New("coordinator is loading")
	// ErrNotCoordinator is NOT_COORDINATOR (16): the slot is not led here, or no longer. What was asked for may have happened, as after any lost answer.
	ErrNotCoordinator = errors.New("not the coordinator")
	// ErrInvalidGroupID is INVALID_GROUP_ID (24).
	ErrInvalidGroupID = errors.New("group id is not valid")
	// ErrNonEmptyGroup is NON_EMPTY_GROUP (68).
	ErrNonEmptyGroup = errors.New("group has members")
	// ErrGroupNotFound is GROUP_ID_NOT_FOUND (69).
	ErrGroupNotFound = errors.New("group does not exist")
	// ErrCommitTooLarge is INVALID_COMMIT_OFFSET_SIZE (28): more than one request may commit.
	ErrCommitTooLarge = errors.New("offsets of the request are too large to be committed at once")
	// ErrSubscribed is GROUP_SUBSCRIBED_TO_TOPIC (86).
	ErrSubscribed = errors.New("group is subscribed to the topic")
	// ErrUnstableOffset is UNSTABLE_OFFSET_COMMIT (88): an open transaction may change the offset.
	ErrUnstableOffset = errors.New("offset is about to be changed by a transaction")
)

// What a transactional producer branches on: the errors of package txn.
var (
	// ErrInvalidTransactionRequest is INVALID_REQUEST (42).
	ErrInvalidTransactionRequest = txn.ErrInvalidRequest
	// ErrInvalidProducerEpoch is INVALID_PRODUCER_EPOCH (47).
	ErrInvalidProducerEpoch = txn.ErrInvalidProducerEpoch
	// ErrInvalidTransactionState is INVALID_TXN_STATE (48).
	ErrInvalidTransactionState = txn.ErrInvalidState
	// ErrInvalidProducerIDMapping is INVALID_PRODUCER_ID_MAPPING (49).
	ErrInvalidProducerIDMapping = txn.ErrInvalidProducerIDMapping
	// ErrInvalidTransactionTimeout is INVALID_TRANSACTION_TIMEOUT (50).
	ErrInvalidTransactionTimeout = txn.ErrInvalidTimeout
	// ErrConcurrentTransactions is CONCURRENT_TRANSACTIONS (51).
	ErrConcurrentTransactions = txn.ErrConcurrentTransactions
	// ErrProducerFenced is PRODUCER_FENCED (90).
	ErrProducerFenced = txn.ErrProducerFenced
	// ErrTransactionalIDNotFound is TRANSACTIONAL_ID_NOT_FOUND (105).
	ErrTransactionalIDNotFound = txn.ErrNotFound
)

// appendError explains an append that was refused: nothing happened.
func appendError(err error) error {
	if errors.Is(err, storage.ErrStorageFull) {
		return fmt.Errorf("%w: %w", group.ErrNotAvailable, err)
	}
	return fmt.Errorf("%w: %w", ErrNotCoordinator, err)
}

// waitError explains an answer that did not become certain. The end of ctx is told as it is; everything else means that the slot was lost.
func waitError(ctx context.Context, err error) error {
	if err == nil || (ctx.Err() != nil && errors.Is(err, context.Cause(ctx))) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrNotCoordinator, err)
}
