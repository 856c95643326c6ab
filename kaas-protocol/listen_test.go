package protocol_test

import (
	"context"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kaas-rs/kaas/kaas-protocol"
)

func TestPortInUse(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	address := taken.Addr().String()
	server, err := protocol.New(protocol.Config{Listeners: []protocol.Listener{
		{Name: "FIRST", Address: "127.0.0.1:0"}, {Name: "EXTERNAL", Address: address},
	}})
	if err != nil {
		t.Fatal(err)
	}
	err = server.Listen()
	if err == nil {
		t.Fatal("listens on a port in use")
	}
	want := "listener EXTERNAL: listen on " + address + ": bind: address already in use"
	if err.Error() != want {
		t.Errorf("error %q, want %q", err, want)
	}
	if conn, err := net.Dial("tcp", server.Addr("FIRST").String()); err == nil {
		conn.Close()
		t.Error("the other listener stayed open")
	}
}

func TestNewNamesEveryProblem(t *testing.T) {
	start := func(context.Context, *protocol.Request) protocol.FinishFunc { return nil }
	missing := filepath.Join(t.TempDir(), "missing.crt")
	_, err := protocol.New(protocol.Config{
		Listeners: []protocol.Listener{
			{Name: "A", Address: "127.0.0.1:0"},
			{Name: "A", Address: "127.0.0.1:0"},
			{Address: ":1"},
			{Name: "B", Address: "9092"},
			{Name: "C", Address: ":0", TLS: &protocol.TLSConfig{CertFile: missing, KeyFile: missing}},
			{Name: "D", Address: ":0", TLS: &protocol.TLSConfig{CertFile: missing, KeyFile: missing, ClientAuth: protocol.ClientAuthRequired}},
		},
		APIs: []protocol.API{
			{Key: 3, Start: start},
			{Key: 3, Start: start},
			{Key: 4, Start: start},
			{Key: 18, Start: start},
			{Key: 1},
			{Key: 2, BeforeAuth: true, Start: start},
		},
		Limits: protocol.Limits{MaxConnectionsPerIPOverrides: map[string]int{"localhost": 3}},
	})
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{
		`listener "A" is named twice`, "has no name", "listener B: address 9092", "listener C: open " + missing,
		"listener D: client certificates", "key 3 has two", "key 4 is not in the registry", "ApiVersions is answered by the server",
		"Fetch has no handler", "ListOffsets must not", `connection limit for "localhost"`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("nothing about %q in:\n%v", want, err)
		}
	}
	if _, err := protocol.New(protocol.Config{}); err == nil || !strings.Contains(err.Error(), "no listener") {
		t.Errorf("without listeners: %v", err)
	}
}

func TestListenersKnowTheirNames(t *testing.T) {
	names := make(chan string, 1)
	server := serve(t, protocol.Config{
		Listeners: []protocol.Listener{{Name: "PLAINTEXT", Address: "127.0.0.1:0"}, {Name: "INSIDE", Address: "127.0.0.1:0"}},
		APIs: []protocol.API{replying(func(r *protocol.Request) (protocol.Reply, error) {
			names <- r.Conn.Listener() + " " + r.Conn.Remote().String()
			return protocol.Reply{Message: metadataAnswer(r)}, nil
		})},
	})
	for _, name := range []string{"PLAINTEXT", "INSIDE"} {
		conn, err := net.Dial("tcp", server.Addr(name).String())
		if err != nil {
			t.Fatal(err)
		}
		client := wrap(t, conn)
		client.send(metadataRequest())
		client.receive()
		if got, want := <-names, name+" "+conn.LocalAddr().String(); got != want {
			t.Errorf("request on %q, want %q", got, want)
		}
	}
	if server.Addr("OTHER") != nil {
		t.Error("an unknown listener has an address")
	}
}
