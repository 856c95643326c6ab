package main

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/rs/zerolog"

	broker "github.com/kaas-rs/kaas/kaas-broker"
	"github.com/kaas-rs/kaas/kaas-broker/config"
)

// greet tells where the broker listens, what it keeps, and what to try next: people in words, programs in one log line.
func greet(out io.Writer, log zerolog.Logger, c *config.Config, b *broker.Broker) {
	address, moved := b.HealthAddr()
	health := ""
	if address != nil {
		health = address.String()
	}
	if moved {
		log.Warn().Str("wanted", c.Health.Address).Str("address", health).Msg("health address is in use, another port was taken")
	}
	if asText(c.Log, out) {
		banner(out, c, b, health)
		return
	}
	listeners := zerolog.Dict()
	for _, l := range c.Listeners {
		listeners = listeners.Stringer(l.Name, b.Addr(l.Name))
	}
	log.Info().Str("version", version()).Str("mode", string(c.Mode)).Str("cluster_id", b.ClusterID()).Int32("broker_id", c.BrokerID).
		Dict("listeners", listeners).Str("data_dir", c.DataDir).Str("cluster_dir", c.ClusterDir).Str("health", health).Msg("kaas started")
}

func banner(out io.Writer, c *config.Config, b *broker.Broker, health string) {
	fmt.Fprintf(out, "kaas %s in %s mode, broker %d of cluster %s\n", version(), c.Mode, c.BrokerID, b.ClusterID())
	for _, l := range c.Listeners {
		fmt.Fprintf(out, "  clients   %s\n", door(l, b.Addr(l.Name).String(), b.Advertised(l.Name)))
	}
	if c.Mode == config.ModeDev {
		fmt.Fprintln(out, "  data      in memory, gone when this process ends; --data-dir DIR keeps it")
	} else {
		fmt.Fprintf(out, "  data      %s\n", whole(c.DataDir))
		fmt.Fprintf(out, "  cluster   %s\n", whole(c.ClusterDir))
	}
	if health != "" {
		fmt.Fprintf(out, "  health    http://%s/healthz\n", health)
	}
	if try := suggestion(c, b); try != "" {
		fmt.Fprintf(out, "try         %s\n", try)
	}
}

// door tells where a listener listens, what it speaks, and where clients are sent if that is another address.
func door(l config.Listener, address, advertised string) string {
	text := address + " (" + l.Name
	if string(l.Protocol) != l.Name {
		text += ", " + string(l.Protocol)
	}
	text += ")"
	if advertised != address {
		text += ", clients are sent to " + advertised
	}
	return text
}

// whole is a path that means the same in another terminal.
func whole(path string) string {
	if absolute, err := filepath.Abs(path); err == nil {
		return absolute
	}
	return path
}

// suggestion is a command for the first listener that needs no certificates.
func suggestion(c *config.Config, b *broker.Broker) string {
	for _, l := range c.Listeners {
		if l.TLS == nil {
			address := b.Advertised(l.Name)
			return fmt.Sprintf("echo hello | kcat -b %s -t test -P && kcat -b %s -t test -C -e", address, address)
		}
	}
	return ""
}
