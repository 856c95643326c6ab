package exactlyonce

import (
	"context"
	"math/rand/v2"
	"net"
)

// world is what the clients live in.
type world interface {
	bootstrap() string
	dial(ctx context.Context) (net.Conn, error)
	createTopic(name string, partitions int32)
	// disturb does one bad thing to the broker, undoes it as far as it can be undone, and says what it was.
	disturb(random *rand.Rand) string
	// heal ends what goes wrong on its own.
	heal()
}
