package config_test

import (
	"fmt"

	"github.com/kaas-rs/kaas/kaas-broker/config"
)

func Example() {
	c, err := config.Load(config.Input{
		Args:    []string{"--data-dir", "/var/lib/kaas", "--override", "num.partitions=6"},
		Environ: []string{"KAAS_BROKER_RACK=west"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Mode, c.ClusterDir, c.Topics.Partitions, c.Rack, c.Listeners[0].Address())
	// Output: single /var/lib/kaas/__cluster 6 west 127.0.0.1:9092
}
