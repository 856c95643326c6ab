//go:build !linux

package protocol

import (
	"errors"
	"os"
)

// sendFile is not used here: sections are copied.
func (s *socket) sendFile(*os.File, int64, int64) (int64, error) { return 0, errors.ErrUnsupported }

// peerState knows nothing here: a client that left is noticed by the next read or write.
func (s *socket) peerState() (reset, finished bool) { return false, false }
