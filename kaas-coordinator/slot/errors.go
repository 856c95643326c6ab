package slot

import (
	"errors"
	"fmt"

	"github.com/kaas-rs/kaas/kaas-storage"
)

// What a caller branches on, beside the errors of package storage.
var (
	// ErrClosed: the slot was closed here. The partition may be led on.
	ErrClosed = errors.New("coordinator slot is closed")
	// ErrIncomplete: a slot's directory is missing although all had been made. Its records are lost, which an empty one would hide.
	ErrIncomplete = errors.New("coordinator directory is incomplete")
	// ErrCorrupt: a record or the stamp cannot be understood.
	ErrCorrupt = errors.New("coordinator records are corrupt")
)

// VersionError is a record or stamp of a version that is not known here. errors.Is finds storage.ErrFutureVersion.
type VersionError struct {
	What    string // such as "offset record"
	Version int    // 0 when the format itself is another
}

func (e *VersionError) Error() string {
	if e.Version == 0 {
		return fmt.Sprintf("%s is not known here: %v", e.What, storage.ErrFutureVersion)
	}
	return fmt.Sprintf("%s has version %d, known is %d: %v", e.What, e.Version, Version, storage.ErrFutureVersion)
}

// Unwrap returns storage.ErrFutureVersion.
func (*VersionError) Unwrap() error { return storage.ErrFutureVersion }

// Version is the version of values that this software writes and the only one that it reads.
const Version = 1

// CheckVersion refuses a value of another version with a *VersionError.
func CheckVersion(kind Kind, version int) error {
	if version != Version {
		return &VersionError{What: kind.String() + " record", Version: version}
	}
	return nil
}
