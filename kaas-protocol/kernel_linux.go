package protocol

import (
	"errors"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// sendFile sends size bytes of a file from an offset with sendfile. The file's own position is not used, so
// that any number of connections can send from one handle. errors.ErrUnsupported, with nothing sent, means
// that this file or transport cannot.
func (s *socket) sendFile(file *os.File, offset, size int64) (int64, error) {
	if s.raw == nil {
		return 0, errors.ErrUnsupported
	}
	defer runtime.KeepAlive(file)
	source, sent := int(file.Fd()), int64(0)
	for sent < size {
		n, err := s.step(func(descriptor int) (int, error) {
			position := offset + sent
			return unix.Sendfile(descriptor, source, &position, int(min(size-sent, 1<<30)))
		})
		switch {
		case sent == 0 && (errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS)):
			return 0, errors.ErrUnsupported
		case err != nil:
			return sent, err
		case n == 0:
			return sent, errShortSection
		}
		sent += int64(n)
	}
	return sent, nil
}

// step runs one non-blocking system call on the socket, waiting until it can take bytes.
func (s *socket) step(call func(descriptor int) (int, error)) (n int, err error) {
	if err := s.SetWriteDeadline(time.Now().Add(s.sendTimeout)); err != nil {
		return 0, err
	}
	waitErr := s.raw.Write(func(descriptor uintptr) bool {
		for {
			n, err = call(int(descriptor))
			if !errors.Is(err, unix.EINTR) {
				return !errors.Is(err, unix.EAGAIN)
			}
		}
	})
	switch {
	case errors.Is(waitErr, os.ErrDeadlineExceeded):
		return 0, errSlowClient
	case waitErr != nil:
		return 0, waitErr
	}
	return max(n, 0), err
}

// peerState asks the kernel what became of the other end, whatever is still unread: reset (or both directions
// closed), or finished sending.
func (s *socket) peerState() (reset, finished bool) {
	if s.raw == nil {
		return false, false
	}
	_ = s.raw.Control(func(descriptor uintptr) {
		events := []unix.PollFd{{Fd: int32(descriptor), Events: unix.POLLRDHUP}}
		if n, err := unix.Poll(events, 0); err == nil && n > 0 {
			reset = events[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
			finished = events[0].Revents&unix.POLLRDHUP != 0
		}
	})
	return reset, finished
}
