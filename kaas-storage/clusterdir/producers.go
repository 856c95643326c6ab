package clusterdir

import (
	"context"
	"fmt"
	"math"
)

// producerBlockSize is how many producer ids one block has, as Kafka's (ProducerIdsBlock).
const producerBlockSize = 1000

const maxBlock = math.MaxInt64/producerBlockSize - 1

// NextProducerBlock takes the next block of producer ids: count ids from first on. No other call, by any process, before or after a
// crash, gives one of them again: the block's name is durable before its ids are returned. Ids of a block that was not used up are lost.
//
// Atomic? Making the block's name is. Idempotent? A repeated call takes another block. One writer? Any number of brokers. Name as
// identity? The name is the block's number; the highest is never removed, so no number comes twice.
func (d *Dir) NextProducerBlock(ctx context.Context) (first, count int64, err error) {
	if err := ctx.Err(); err != nil {
		return 0, 0, fmt.Errorf("take a block of producer ids: %w", err)
	}
	block, err := d.producers.takeNext()
	if err != nil {
		return 0, 0, fmt.Errorf("take a block of producer ids: %w", err)
	}
	d.tidy(d.producers, block)
	return block * producerBlockSize, producerBlockSize, nil
}
