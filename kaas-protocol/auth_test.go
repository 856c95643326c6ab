package protocol_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-protocol"
)

// demanding lets nobody in by the transport alone and gives each connection to the test.
type demanding chan *protocol.Conn

func (d demanding) Begin(_ context.Context, c *protocol.Conn) (string, error) {
	d <- c
	return "", nil
}

// trusting knows everybody by the transport; refusing knows nobody.
type trusting string

func (p trusting) Begin(context.Context, *protocol.Conn) (string, error) { return string(p), nil }

type refusing struct{}

func (refusing) Begin(context.Context, *protocol.Conn) (string, error) {
	return "", errors.New("no certificate")
}

// principals answers Metadata and tells who asked.
func principals(to chan<- string) protocol.API {
	return replying(func(r *protocol.Request) (protocol.Reply, error) {
		to <- r.Conn.Principal()
		return protocol.Reply{Message: metadataAnswer(r)}, nil
	})
}

func authenticating(t *testing.T, authenticator protocol.Authenticator, apis ...protocol.API) *protocol.Server {
	return serve(t, protocol.Config{APIs: apis, Listeners: []protocol.Listener{
		{Name: "PLAINTEXT", Address: "127.0.0.1:0", Authenticator: authenticator},
	}})
}

func TestPrincipalOfTheTransport(t *testing.T) {
	asked := make(chan string, 1)
	for name, c := range map[string]struct {
		authenticator protocol.Authenticator
		want          string
	}{
		"none":        {nil, protocol.Anonymous},
		"certificate": {trusting("User:CN=alice"), "User:CN=alice"},
	} {
		t.Run(name, func(t *testing.T) {
			client := dial(t, authenticating(t, c.authenticator, principals(asked)))
			call[*kmsg.MetadataResponse](client, metadataRequest())
			if got := <-asked; got != c.want {
				t.Errorf("principal %q, want %q", got, c.want)
			}
		})
	}
	t.Run("refused", func(t *testing.T) {
		dial(t, authenticating(t, refusing{}, metadata())).closed()
	})
}

func TestBeforeAuthentication(t *testing.T) {
	conns, asked := make(demanding, 1), make(chan string, 1)
	server := authenticating(t, conns, principals(asked))

	t.Run("other requests close", func(t *testing.T) {
		client := dial(t, server)
		<-conns
		client.send(metadataRequest())
		client.closed()
	})
	t.Run("frames above 512 KiB close", func(t *testing.T) {
		client := dial(t, server)
		<-conns
		client.write([]byte{0, 8, 0, 1})
		client.closed()
	})
	t.Run("ApiVersions is answered at any version", func(t *testing.T) {
		client := dial(t, server)
		<-conns
		client.write(raw(18, 9, 1, 0))
		client.receive()
		call[*kmsg.ApiVersionsResponse](client, kmsg.NewPtrApiVersionsRequest())
	})
	t.Run("authenticated, then expired", func(t *testing.T) {
		client := dial(t, server)
		conn := <-conns
		conn.Authenticate("User:alice", time.Now().Add(time.Hour))
		call[*kmsg.MetadataResponse](client, metadataRequest())
		if got := <-asked; got != "User:alice" {
			t.Errorf("principal %q", got)
		}
		conn.Authenticate("User:alice", time.Now())
		call[*kmsg.ApiVersionsResponse](client, kmsg.NewPtrApiVersionsRequest())
		client.send(metadataRequest())
		client.closed()
	})
}

func TestRequestsBehindAnAuthentication(t *testing.T) {
	sasl := kmsg.NewPtrSASLHandshakeRequest()
	sasl.Version, sasl.Mechanism = 1, "PLAIN"
	conns, asked := make(demanding, 1), make(chan string, 1)
	handshake := protocol.API{Key: 17, BeforeAuth: true, Start: func(_ context.Context, r *protocol.Request) protocol.FinishFunc {
		return func(context.Context) (protocol.Reply, error) {
			r.Conn.Authenticate("User:alice", time.Time{})
			return protocol.Reply{Message: r.Message.ResponseKind()}, nil
		}
	}}
	client := dial(t, authenticating(t, conns, handshake, principals(asked)))
	client.send(sasl)
	want := client.send(metadataRequest())
	client.receive()
	if got, _ := client.receive(); got != want {
		t.Fatalf("response %d, want %d", got, want)
	}
	if got := <-asked; got != "User:alice" {
		t.Errorf("principal %q", got)
	}
}
