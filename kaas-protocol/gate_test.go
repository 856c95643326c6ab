package protocol_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-protocol"
)

// raw builds a frame from the four header fields and what follows the client id.
func raw(key, version int16, correlation int32, rest ...byte) []byte {
	body := binary.BigEndian.AppendUint16(nil, uint16(key))
	body = binary.BigEndian.AppendUint16(body, uint16(version))
	body = binary.BigEndian.AppendUint32(body, uint32(correlation))
	body = append(body, 0xff, 0xff) // no client id
	body = append(body, rest...)
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

func TestGateClosesOn(t *testing.T) {
	get := []byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
	cases := map[string][]byte{
		"unknown key":                raw(9999, 0, 1),
		"negative key":               raw(-1, 0, 1),
		"key without a handler":      raw(10, 0, 1, 0, 1, 'g'),
		"version above the range":    raw(3, 13, 1, 0),
		"version below the range":    raw(3, -1, 1),
		"SASL without a handler":     raw(17, 1, 1, 0, 5, 'P', 'L', 'A', 'I', 'N'),
		"frame size 0":               {0, 0, 0, 0},
		"negative frame size":        {0xff, 0xff, 0xff, 0xff},
		"frame above the limit":      {0x06, 0x40, 0x00, 0x01, 'x'},
		"HTTP":                       get,
		"header cut short":           {0, 0, 0, 3, 0, 3, 0},
		"body cut short":             raw(3, 1, 1, 0, 0),
		"array count beyond the end": raw(3, 1, 1, 0x7f, 0xff, 0xff, 0xff),
		"missing tag buffer":         raw(18, 4, 1),
	}
	server := serve(t, protocol.Config{APIs: []protocol.API{metadata()}})
	for name, bytes := range cases {
		t.Run(name, func(t *testing.T) {
			client := dial(t, server)
			client.write(bytes)
			client.closed()
		})
	}
}

func TestEarlierRequestsAreAnsweredBeforeTheGateCloses(t *testing.T) {
	server := serve(t, protocol.Config{APIs: []protocol.API{metadata()}})
	client := dial(t, server)
	client.write(append(frame(metadataRequest(), 7), raw(9999, 0, 8)...))
	if got, _ := client.receive(); got != 7 {
		t.Fatalf("response %d, want 7", got)
	}
	client.closed()
}

func TestApiVersionsAboveTheRangeAnswersInTheLowestLayout(t *testing.T) {
	server := serve(t, protocol.Config{APIs: []protocol.API{metadata()}})
	// correlation id, error 35, one row: key 18, versions 0 to 3.
	want, _ := hex.DecodeString("00000005" + "0023" + "00000001" + "0012" + "0000" + "0003")
	for name, request := range map[string][]byte{
		"version 4":       raw(18, 4, 5, 0, 2, 'a', 2, '1', 0),
		"version 32767":   raw(18, 32767, 5, 0),
		"version -1":      raw(18, -1, 5),
		"version -1 more": raw(18, -1, 5, 1, 2, 3),
	} {
		t.Run(name, func(t *testing.T) {
			client := dial(t, server)
			for range 2 {
				client.write(request)
				correlation, body := client.receive()
				got := append(binary.BigEndian.AppendUint32(nil, uint32(correlation)), body...)
				if !bytes.Equal(got, want) {
					t.Fatalf("response % x, want % x", got, want)
				}
			}
			call[*kmsg.MetadataResponse](client, metadataRequest())
		})
	}
}

func TestApiVersionsListsTheKeysWithHandlers(t *testing.T) {
	server := serve(t, protocol.Config{APIs: []protocol.API{metadata(), newParked().api()}})
	for version := range int16(4) {
		client := dial(t, server)
		for range 2 { // a second one is accepted
			request := kmsg.NewPtrApiVersionsRequest()
			request.Version, request.ClientSoftwareName, request.ClientSoftwareVersion = version, "apache-kafka-java", "3.7.2"
			response := call[*kmsg.ApiVersionsResponse](client, request)
			if response.ErrorCode != 0 {
				t.Fatalf("version %d: error %d", version, response.ErrorCode)
			}
			for i, want := range server.Advertised() {
				got := response.ApiKeys[i]
				if got.ApiKey != want.Key || got.MinVersion != want.MinVersion || got.MaxVersion != want.MaxVersion {
					t.Errorf("version %d: row %+v, want %+v", version, got, want)
				}
			}
			if len(response.ApiKeys) != 3 {
				t.Errorf("version %d: %d keys, want 3", version, len(response.ApiKeys))
			}
		}
	}
}

func TestClientSoftware(t *testing.T) {
	cases := []struct {
		name, software, version string
		code                    int16
	}{
		{"librdkafka", "librdkafka", "2.15.0", 0},
		{"one letter", "a", "1", 0},
		{"dots and hyphens inside", "a.b-c", "1-rc.2", 0},
		{"empty name", "", "1", 42},
		{"empty version", "a", "", 42},
		{"space", "a b", "1", 42},
		{"ends with a hyphen", "a-", "1", 42},
		{"newline at the end", "a", "1\n", 42},
	}
	software := make(chan [2]string, 1)
	server := serve(t, protocol.Config{APIs: []protocol.API{replying(func(r *protocol.Request) (protocol.Reply, error) {
		name, version := r.Conn.ClientSoftware()
		software <- [2]string{name, version}
		return protocol.Reply{Message: metadataAnswer(r)}, nil
	})}})
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			client := dial(t, server)
			request := kmsg.NewPtrApiVersionsRequest()
			request.Version, request.ClientSoftwareName, request.ClientSoftwareVersion = 3, c.software, c.version
			if got := call[*kmsg.ApiVersionsResponse](client, request).ErrorCode; got != c.code {
				t.Fatalf("error %d, want %d", got, c.code)
			}
			call[*kmsg.MetadataResponse](client, metadataRequest())
			want := [2]string{c.software, c.version}
			if c.code != 0 {
				want = [2]string{}
			}
			if got := <-software; got != want {
				t.Errorf("remembered %q, want %q", got, want)
			}
		})
	}
}
