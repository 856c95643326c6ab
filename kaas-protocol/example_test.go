package protocol_test

import (
	"context"
	"fmt"
	"net"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-protocol"
)

// A server with one handler, asked by a client over TCP.
func Example() {
	metadata := protocol.API{Key: 3, Start: func(_ context.Context, r *protocol.Request) protocol.FinishFunc {
		return func(context.Context) (protocol.Reply, error) {
			response := r.Message.ResponseKind().(*kmsg.MetadataResponse)
			response.ControllerID = 7
			return protocol.Reply{Message: response}, nil
		}
	}}
	server, err := protocol.New(protocol.Config{
		Listeners: []protocol.Listener{{Name: "PLAINTEXT", Address: "127.0.0.1:0"}},
		APIs:      []protocol.API{metadata},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := server.Listen(); err != nil {
		fmt.Println(err)
		return
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(context.Background()) }()

	fmt.Println("controller", askController(server.Addr("PLAINTEXT")))
	for _, api := range server.Advertised() {
		fmt.Println(api.Name, api.MinVersion, "to", api.MaxVersion)
	}
	fmt.Println(server.Shutdown(context.Background()), <-served)
	// Output:
	// controller 7
	// Metadata 0 to 12
	// ApiVersions 0 to 3
	// <nil> <nil>
}

// askController sends a Metadata request and reads the controller's id.
func askController(address net.Addr) int32 {
	conn, err := net.Dial("tcp", address.String())
	if err != nil {
		return -1
	}
	defer conn.Close()
	request := kmsg.NewPtrMetadataRequest()
	request.Version = 1
	if _, err := conn.Write(frame(request, 1)); err != nil {
		return -1
	}
	_, body, err := (&client{conn: conn}).tryReceive()
	if err != nil {
		return -1
	}
	response := request.ResponseKind().(*kmsg.MetadataResponse)
	if err := response.ReadFrom(body); err != nil {
		return -1
	}
	return response.ControllerID
}
