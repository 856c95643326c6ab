package txn

import "errors"

// Why a request is refused. Each but ErrProducerIDNeeded stands for one Kafka error code.
var (
	// ErrInvalidRequest is INVALID_REQUEST (42): there is no transactional id, or only one of producer id and epoch.
	ErrInvalidRequest = errors.New("transactional request is not valid")
	// ErrInvalidProducerEpoch is INVALID_PRODUCER_EPOCH (47): offsets are staged by an instance of the producer that was replaced.
	ErrInvalidProducerEpoch = errors.New("producer epoch is not the transaction's")
	// ErrInvalidState is INVALID_TXN_STATE (48).
	ErrInvalidState = errors.New("transaction is not in a state for this")
	// ErrInvalidProducerIDMapping is INVALID_PRODUCER_ID_MAPPING (49): the transactional id is not known or has another producer id.
	ErrInvalidProducerIDMapping = errors.New("transactional id does not have this producer id")
	// ErrInvalidTimeout is INVALID_TRANSACTION_TIMEOUT (50).
	ErrInvalidTimeout = errors.New("transaction timeout is out of bounds")
	// ErrConcurrentTransactions is CONCURRENT_TRANSACTIONS (51): the markers of the last transaction are still being placed. It passes.
	ErrConcurrentTransactions = errors.New("the last transaction is not complete yet")
	// ErrProducerFenced is PRODUCER_FENCED (90): another instance of the producer has a higher epoch.
	ErrProducerFenced = errors.New("producer was replaced by another with its transactional id")
	// ErrNotFound is TRANSACTIONAL_ID_NOT_FOUND (105).
	ErrNotFound = errors.New("transactional id is not known")
	// ErrProducerIDNeeded tells the driver, never a client, to ask again with a new producer id.
	ErrProducerIDNeeded = errors.New("a new producer id is needed")
)
