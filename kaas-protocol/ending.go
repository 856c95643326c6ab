package protocol

import (
	"errors"
	"io"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"github.com/kaas-rs/kaas/kaas-codec"
)

// endLabel names, for metrics, why a connection ended. The set of names is fixed.
func endLabel(reason error) string {
	var refusal *refusedError
	switch {
	case errors.Is(reason, errClientGone), errors.Is(reason, io.EOF), errors.Is(reason, syscall.ECONNRESET), errors.Is(reason, syscall.EPIPE):
		return "client"
	case errors.Is(reason, errIdle):
		return "idle"
	case errors.Is(reason, errDraining), errors.Is(reason, errServerStops):
		return "shutdown"
	case errors.Is(reason, errSaidClose):
		return "handler"
	case errors.Is(reason, errSlowRequest), errors.Is(reason, errSlowClient):
		return "slow"
	case errors.Is(reason, errPanic):
		return "panic"
	case errors.As(reason, &refusal):
		return "refused"
	default:
		return "error"
	}
}

// logEnd says why the connection ended: what an operator should look at as a warning, but not as often as a
// client can cause it, and the rest only for debugging.
func (c *connection) logEnd() {
	level, skipped := zerolog.DebugLevel, 0
	switch endLabel(c.reason) {
	case "refused", "slow", "error":
		if count, ok := c.server.refusals.allow(time.Now()); ok {
			level, skipped = zerolog.WarnLevel, count
		}
	}
	name, version := c.public.ClientSoftware()
	c.server.config.Logger.WithLevel(level).Err(c.reason).Str("hint", hint(c.reason)).Int("left_out", skipped).
		Str("connection", c.public.ID()).Str("listener", c.public.Listener()).Str("principal", c.public.Principal()).
		Str("software", name).Str("software_version", version).
		Msg("connection ended")
}

// hint guesses what a client speaks whose first bytes are no size of a frame.
func hint(reason error) string {
	size := (*codec.FrameSizeError)(nil)
	if !errors.As(reason, &size) {
		return ""
	}
	switch {
	case size.Size>>8 == 0x160301 || size.Size>>8 == 0x160303:
		return "a TLS client on a plaintext listener?"
	case isLetter(size.Size>>24) && isLetter(size.Size>>16&0xff) && isLetter(size.Size>>8&0xff):
		return "an HTTP client?"
	default:
		return ""
	}
}

func isLetter(b int32) bool { return b >= 'A' && b <= 'Z' }
