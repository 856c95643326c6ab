package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// What a caller branches on. Errors that the engine returns wrap one of these, a *StorageError or a *CorruptionError.
var (
	// ErrFenced: another owner claimed the partition with a higher epoch. Nothing more is acknowledged here.
	ErrFenced = errors.New("fenced by a higher epoch")
	// ErrClosed: this owner closed or handed over the partition.
	ErrClosed = errors.New("partition is closed")
	// ErrStalled: a file operation did not finish within Options.IODeadline; whether it will is unknown.
	ErrStalled = errors.New("storage did not answer in time")
	// ErrStorageFull: the volume has no room for more records. Reads go on.
	ErrStorageFull = errors.New("storage is full")
	// ErrOffsetOutOfRange: the offset is below the log start or above the log end.
	ErrOffsetOutOfRange = errors.New("offset out of range")
	// ErrOutOfOrderSequence: an idempotent producer's batch does not follow its last one (Kafka's OUT_OF_ORDER_SEQUENCE_NUMBER).
	ErrOutOfOrderSequence = errors.New("out of order sequence number")
	// ErrProducerEpoch: the producer's epoch is below the one seen last (Kafka's INVALID_PRODUCER_EPOCH).
	ErrProducerEpoch = errors.New("producer epoch is too old")
	// ErrInvalidTransaction: a transactional batch whose transaction is not verified, a plain one of a producer that has a transaction
	// open, or a marker of no producer (Kafka's INVALID_TXN_STATE).
	ErrInvalidTransaction = errors.New("batch is not part of the producer's transaction")
	// ErrCoordinatorEpoch: a marker without identity, of an earlier coordinator than the producer's last marker (Kafka's TRANSACTION_COORDINATOR_FENCED).
	ErrCoordinatorEpoch = errors.New("marker is of an earlier coordinator")
	// ErrNoManifest: the directory was never prepared as a partition, or lost its manifests. It is never taken over.
	ErrNoManifest = errors.New("partition has no manifest")
	// ErrDeleted: the partition is being deleted.
	ErrDeleted = errors.New("partition is being deleted")
	// ErrMoving: the partition is being moved to another volume.
	ErrMoving = errors.New("partition is being moved")
	// ErrFutureVersion: a file was written by a later version of this software.
	ErrFutureVersion = errors.New("written by a later version")
	// ErrForeignVolume: the volume's identity stamp names another cluster or another volume.
	ErrForeignVolume = errors.New("volume belongs to another cluster")
	// ErrNotFencing: on this file system the owner of a log would not notice that another has taken over. Nothing is kept on it.
	ErrNotFencing = errors.New("this file system cannot fence")
)

// isGone reports that a name is not there, or that the directory it was in is not: for the latter NFS answers ESTALE.
func isGone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESTALE)
}

// StorageError is a failed file operation. It ends the epoch of the partition that it happened in.
type StorageError struct { //nolint:revive // storage.Error would say nothing where it is met
	Op   string // what was tried, such as "sync" or "write manifest"
	Path string // directory or file, as opened
	Err  error
}

func (e *StorageError) Error() string { return fmt.Sprintf("%s %s: %v", e.Op, e.Path, e.Err) }

// Unwrap returns the file system's error.
func (e *StorageError) Unwrap() error { return e.Err }

// CorruptionError is data on disk that contradicts what was durable. It stops a takeover: nothing is guessed or skipped.
type CorruptionError struct {
	Dir    string // the partition's directory
	File   string // the file in it
	Offset int64  // byte position in the file, -1 when the file as a whole is meant
	Cause  string
}

func (e *CorruptionError) Error() string {
	if e.Offset < 0 {
		return fmt.Sprintf("corrupt %s/%s: %s", e.Dir, e.File, e.Cause)
	}
	return fmt.Sprintf("corrupt %s/%s at byte %d: %s", e.Dir, e.File, e.Offset, e.Cause)
}
