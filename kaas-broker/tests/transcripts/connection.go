package transcripts

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// answerTimeout is how long a script waits for bytes, far longer than any wait it asks for.
const answerTimeout = 20 * time.Second

// keyAPIVersions is the one key whose responses keep the oldest header.
const keyAPIVersions int16 = 18

var (
	errClosed = errors.New("the broker closed the connection")
	errSilent = errors.New("the broker sent nothing")
	errOther  = errors.New("the broker sent what is no frame")
)

// largestFrame is far above every answer to a script.
const largestFrame = 64 << 20

// connection is one socket to the broker under test.
type connection struct {
	socket      net.Conn
	correlation int32
}

func dial(address string) (*connection, error) {
	socket, err := net.DialTimeout("tcp", address, answerTimeout) //nolint:noctx // the timeout is enough
	if err != nil {
		return nil, err
	}
	return &connection{socket: socket}, nil
}

// frameOf is a request with size, header and body. A nil client id is null.
func (c *connection) frameOf(request kmsg.Request, client *string) []byte {
	c.correlation++
	frame := requestHeader(request.Key(), request.GetVersion(), c.correlation, client, request.IsFlexible())
	return sized(request.AppendTo(frame))
}

func requestHeader(key, version int16, correlation int32, client *string, flexible bool) []byte {
	header := binary.BigEndian.AppendUint16(nil, uint16(key))
	header = binary.BigEndian.AppendUint16(header, uint16(version))
	header = binary.BigEndian.AppendUint32(header, uint32(correlation))
	if client == nil {
		header = binary.BigEndian.AppendUint16(header, 0xffff)
	} else {
		header = binary.BigEndian.AppendUint16(header, uint16(len(*client)))
		header = append(header, *client...)
	}
	if flexible {
		header = append(header, 0)
	}
	return header
}

// sized puts the size in front of a frame.
func sized(frame []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(frame))), frame...)
}

func (c *connection) send(bytes []byte) error {
	_, err := c.socket.Write(bytes)
	return err
}

// receive reads one frame without its size. A broker that closes first is errClosed.
func (c *connection) receive(wait time.Duration) ([]byte, error) {
	if err := c.socket.SetReadDeadline(time.Now().Add(wait)); err != nil {
		return nil, err
	}
	var size [4]byte
	if _, err := io.ReadFull(c.socket, size[:]); err != nil {
		return nil, ending(err)
	}
	length := binary.BigEndian.Uint32(size[:])
	if length > largestFrame {
		return nil, errOther
	}
	frame := make([]byte, length)
	if _, err := io.ReadFull(c.socket, frame); err != nil {
		return nil, ending(err)
	}
	return frame, nil
}

// ending tells a broker that has closed from one that says nothing.
func ending(err error) error {
	if timeout := net.Error(nil); errors.As(err, &timeout) && timeout.Timeout() {
		return errSilent
	}
	return errClosed
}

func (c *connection) close() { _ = c.socket.Close() }

// bodyOf takes the response header off a frame.
func bodyOf(frame []byte, key int16, flexible bool) (correlation int32, body []byte, err error) {
	if len(frame) < 4 {
		return 0, nil, io.ErrUnexpectedEOF
	}
	correlation = int32(binary.BigEndian.Uint32(frame))
	body = frame[4:]
	if flexible && key != keyAPIVersions {
		if len(body) == 0 || body[0] != 0 {
			return 0, nil, errors.New("the response header has no empty tag buffer")
		}
		body = body[1:]
	}
	return correlation, body, nil
}
