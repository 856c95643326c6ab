package broker_test

import (
	"context"
	"fmt"

	broker "github.com/kaas-rs/kaas/kaas-broker"
	"github.com/kaas-rs/kaas/kaas-broker/config"
)

// A broker in memory, on a free port, inside another program.
func Example() {
	c, err := config.Load(config.Input{Args: []string{"--listeners", "PLAINTEXT://127.0.0.1:0", "--health-addr", "off"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	b, err := broker.Open(ctx, broker.Options{Config: c})
	if err != nil {
		fmt.Println(err)
		return
	}
	ended := make(chan error, 1)
	go func() { ended <- b.Run(ctx) }()
	fmt.Println("orders:", b.CreateTopic(ctx, "orders", 3, nil))
	stop()
	fmt.Println("drained:", <-ended)
	// Output:
	// orders: <nil>
	// drained: <nil>
}
