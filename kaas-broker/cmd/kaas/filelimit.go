package main

import (
	"fmt"

	"github.com/rs/zerolog"

	broker "github.com/kaas-rs/kaas/kaas-broker"
	"github.com/kaas-rs/kaas/kaas-broker/config"
)

// Open files that connections never get: a share of all that are allowed, and no fewer than a broker without partitions needs for its work.
const (
	filesForLogsShare = 4
	filesForLogs      = 364
	leastConnections  = 100
)

// boundConnections keeps connections from taking the open files that the logs need: a flood of them would make every append fail. Further
// clients wait to be accepted.
func boundConnections(c *config.Config) error {
	allowed, err := allowedFiles()
	if err != nil {
		return err
	}
	most := max(allowed-max(allowed/filesForLogsShare, filesForLogs), leastConnections)
	c.Network.MaxConnections = int(min(int64(c.Network.MaxConnections), most))
	return nil
}

// checkFileLimit refuses a limit on open files with which the broker would fail in the middle of its work, and warns of a low one.
func checkFileLimit(needs broker.FileNeeds, log zerolog.Logger) error {
	allowed, err := allowedFiles()
	if err != nil {
		return err
	}
	if allowed < int64(needs.Least) {
		return fmt.Errorf("only %d open files are allowed, at least %d are needed for %d partitions and a few clients: raise the limit (ulimit -n %d)",
			allowed, needs.Least, needs.Partitions, needs.Ample)
	}
	if allowed < int64(needs.Ample) {
		log.Warn().Int64("allowed", allowed).Int("ample", needs.Ample).Int("partitions", needs.Partitions).
			Msg("few open files are allowed: a partition in use needs five and a connection one; raise the limit (ulimit -n)")
	}
	return nil
}
