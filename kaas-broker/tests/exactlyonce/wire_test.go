package exactlyonce

import (
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// wire is one direction of a connection in memory. What is written waits in it until it is read, as in the buffers of a kernel.
type wire struct {
	mu       sync.Mutex
	changed  sync.Cond
	buffer   []byte
	closed   bool
	deadline time.Time
	alarm    *time.Timer
}

func newWire() *wire {
	w := &wire{}
	w.changed.L = &w.mu
	return w
}

func (w *wire) read(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.buffer) == 0 {
		switch {
		case w.closed:
			return 0, io.EOF
		case !w.deadline.IsZero() && !time.Now().Before(w.deadline):
			return 0, os.ErrDeadlineExceeded
		}
		w.changed.Wait()
	}
	n := copy(p, w.buffer)
	w.buffer = w.buffer[n:]
	return n, nil
}

func (w *wire) write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return 0, net.ErrClosed
	}
	w.buffer = append(w.buffer, p...)
	w.changed.Broadcast()
	return len(p), nil
}

func (w *wire) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	if w.alarm != nil {
		w.alarm.Stop()
	}
	w.changed.Broadcast()
}

func (w *wire) wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.changed.Broadcast()
}

func (w *wire) readUntil(deadline time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.deadline = deadline; w.alarm != nil {
		w.alarm.Stop()
		w.alarm = nil
	}
	if !deadline.IsZero() && !w.closed {
		w.alarm = time.AfterFunc(time.Until(deadline), w.wake)
	}
	w.changed.Broadcast()
}

// wired is one end of a connection in memory. Writes never wait, so that their deadline means nothing.
type wired struct{ in, out *wire }

func newConnection() (one, other net.Conn) {
	a, b := newWire(), newWire()
	return &wired{a, b}, &wired{b, a}
}

func (w *wired) Read(p []byte) (int, error)  { return w.in.read(p) }
func (w *wired) Write(p []byte) (int, error) { return w.out.write(p) }

func (w *wired) Close() error {
	w.in.close()
	w.out.close()
	return nil
}

func (*wired) LocalAddr() net.Addr  { return anywhere }
func (*wired) RemoteAddr() net.Addr { return anywhere }

func (w *wired) SetDeadline(at time.Time) error     { return w.SetReadDeadline(at) }
func (w *wired) SetReadDeadline(at time.Time) error { w.in.readUntil(at); return nil }
func (*wired) SetWriteDeadline(time.Time) error     { return nil }

var anywhere = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9092}
