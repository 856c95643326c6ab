package hostile

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// newClient is a franz-go client that is closed with the test.
func newClient(t *testing.T, address string, options ...kgo.Opt) *kgo.Client {
	t.Helper()
	client, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(address)}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// createTopic makes a topic with settings as key, value, key, value.
func createTopic(t *testing.T, address, topic string, partitions int32, settings ...string) {
	t.Helper()
	request := kmsg.NewPtrCreateTopicsRequest()
	request.TimeoutMillis = 60_000
	wanted := kmsg.NewCreateTopicsRequestTopic()
	wanted.Topic, wanted.NumPartitions, wanted.ReplicationFactor = topic, partitions, 1
	for pair := range slices.Chunk(settings, 2) {
		setting := kmsg.NewCreateTopicsRequestTopicConfig()
		setting.Name, setting.Value = pair[0], &pair[1]
		wanted.Configs = append(wanted.Configs, setting)
	}
	request.Topics = append(request.Topics, wanted)
	client := newClient(t, address, kgo.RetryTimeout(time.Minute))
	defer client.Close()
	response, err := request.RequestWith(t.Context(), client)
	if err == nil {
		err = kerr.ErrorForCode(response.Topics[0].ErrorCode)
	}
	if err != nil {
		t.Fatalf("create topic %s: %v", topic, err)
	}
}

// raw is a connection without a client library on it.
type raw struct {
	*net.TCPConn
	correlation int32
}

// connect opens a connection that vanishes without a farewell when it is closed.
func connect(address string) (*raw, error) {
	connection, err := net.DialTimeout("tcp", address, 10*time.Second)
	if err != nil {
		return nil, err
	}
	r := &raw{TCPConn: connection.(*net.TCPConn)}
	return r, r.SetLinger(0)
}

// dial is connect until the test ends.
func dial(t testing.TB, address string) *raw {
	t.Helper()
	r, err := connect(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// encode is a request with its size and header.
func encode(request kmsg.Request, correlation int32) []byte {
	return kmsg.NewRequestFormatter(kmsg.FormatterClientID("hostile")).AppendRequest(nil, request, correlation)
}

// sized puts the size before a frame.
func sized(frame []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(frame))), frame...)
}

// send writes a request without waiting for its answer.
func (r *raw) send(request kmsg.Request) error {
	r.correlation++
	_, err := r.Write(encode(request, r.correlation))
	return err
}

// receive reads one response, without its size.
func (r *raw) receive(patience time.Duration) ([]byte, error) {
	_ = r.SetReadDeadline(time.Now().Add(patience))
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, err
	}
	answer := make([]byte, binary.BigEndian.Uint32(size[:]))
	_, err := io.ReadFull(r, answer)
	return answer, err
}

// call sends a request and fills in its response.
func (r *raw) call(request kmsg.Request, patience time.Duration) (kmsg.Response, error) {
	if err := r.send(request); err != nil {
		return nil, err
	}
	answer, err := r.receive(patience)
	if err != nil {
		return nil, err
	}
	response := request.ResponseKind()
	head := 4
	if response.IsFlexible() && response.Key() != 18 {
		head = 5
	}
	return response, response.ReadFrom(answer[head:])
}

func isTimeout(err error) bool {
	var network net.Error
	return errors.As(err, &network) && network.Timeout()
}

// closedWithin fails the test when the broker leaves the connection open.
func closedWithin(t *testing.T, connection net.Conn, patience time.Duration) {
	t.Helper()
	_ = connection.SetReadDeadline(time.Now().Add(patience))
	if _, err := io.Copy(io.Discard, connection); isTimeout(err) {
		t.Errorf("the connection is still open after %v", patience)
	}
}
