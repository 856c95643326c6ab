package protocol

import (
	"context"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-codec"
)

// FuzzGate puts any frame through the gate: it must refuse or choose a row that serves the version, never
// panic, and answer ApiVersions with something that a client can read.
func FuzzGate(f *testing.F) {
	m, err := newMeters(nil)
	if err != nil {
		f.Fatal(err)
	}
	start := func(context.Context, *Request) FinishFunc { return nil }
	g := newGate([]API{{Key: 0, Start: start, Pipelined: true}, {Key: 1, Start: start, Pipelined: true}, {Key: 3, Start: start}}, m)
	for _, key := range []int16{0, 1, 2, 3, 18} {
		spec, _ := codec.Lookup(key)
		for version := spec.MinVersion; version <= spec.MaxVersion; version++ {
			request := kmsg.RequestForKey(key)
			request.SetVersion(version)
			f.Add(kmsg.NewRequestFormatter(kmsg.FormatterClientID("fuzz")).AppendRequest(nil, request, 1)[4:])
		}
	}
	f.Add([]byte{0, 18, 0, 99, 0, 0, 0, 1, 0xff, 0xff, 0})
	f.Add([]byte("GET / HTTP/1.1"))
	f.Fuzz(func(t *testing.T, frame []byte) {
		chosen, header, body, err := g.find(frame)
		if err != nil {
			return
		}
		if chosen != g.refusedVersion && !chosen.spec.Supports(header.Version) {
			t.Fatalf("%s version %d passed", chosen.spec.Name, header.Version)
		}
		if chosen.admit(false) == nil && header.Key != keyAPIVersions {
			t.Fatalf("%s passed before authentication", chosen.spec.Name)
		}
		message, err := g.decode(chosen, header, body)
		if err != nil || header.Key != keyAPIVersions {
			return
		}
		request := &Request{Header: header, Message: message, Conn: NewConn(ConnInfo{}), Received: time.Now()}
		reply, err := chosen.Start(t.Context(), request)(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		encoded := codec.AppendResponse(nil, header, reply.Message)
		if reply.Message.GetVersion() != header.Version && chosen != g.refusedVersion {
			t.Fatalf("answer of version %d to version %d", reply.Message.GetVersion(), header.Version)
		}
		response := kmsg.NewPtrApiVersionsResponse()
		response.Version = reply.Message.GetVersion()
		if err := response.ReadFrom(encoded[8:]); err != nil {
			t.Fatal("unreadable answer:", err)
		}
	})
}
