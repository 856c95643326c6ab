package main

import (
	"fmt"
	"io"

	broker "github.com/kaas-rs/kaas/kaas-broker"
	"github.com/kaas-rs/kaas/kaas-broker/config"
)

// greet tells where the broker listens, what it keeps, and what to try next.
func greet(out io.Writer, c *config.Config, b *broker.Broker) {
	fmt.Fprintf(out, "kaas %s, broker %d of cluster %s\n", version(), c.BrokerID, b.ClusterID())
	first := ""
	for _, l := range c.Listeners {
		address := b.Addr(l.Name).String()
		if first == "" {
			first = address
		}
		fmt.Fprintf(out, "  clients   %s (%s, %s)\n", address, l.Name, l.Protocol)
	}
	if c.Mode == config.ModeDev {
		fmt.Fprintln(out, "  data      in memory, gone when this process ends; --data-dir DIR keeps it")
	} else {
		fmt.Fprintf(out, "  data      %s\n", c.DataDir)
	}
	if addr, moved := b.HealthAddr(); addr != nil {
		note := ""
		if moved {
			note = fmt.Sprintf(" (%s is in use)", c.Health.Address)
		}
		fmt.Fprintf(out, "  health    http://%s/healthz%s\n", addr, note)
	}
	fmt.Fprintf(out, "try         echo hello | kcat -b %s -t test -P && kcat -b %s -t test -C -e\n", first, first)
}
