package api

import (
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/kaas-rs/kaas/kaas-broker/internal/metastore"
)

// maxNewPartitions bounds how many partitions one request may create, over all its topics. Kafka has the same bound, and refuses the whole request too.
const maxNewPartitions = metastore.DefaultMaxPartitions

// errTooManyPartitions answers every topic of a request that asks for more.
var errTooManyPartitions = refuse(kerr.PolicyViolation, "one request can create %d partitions at most, over all its topics", maxNewPartitions)

// partitionCount adds up what the topics of a request ask for, without overflow.
type partitionCount int64

func (c *partitionCount) add(partitions int32) { *c += partitionCount(max(partitions, 0)) }

func (c partitionCount) tooMany() bool { return c > maxNewPartitions }
