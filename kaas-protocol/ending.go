package protocol

import (
	"errors"
	"time"
)

// endLabel names, for metrics, why a connection ended. The set of names is fixed.
func endLabel(reason error) string {
	var refusal *refusedError
	switch {
	case errors.Is(reason, errClientGone):
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
	log := c.server.config.Logger
	event := log.Debug()
	switch endLabel(c.reason) {
	case "refused", "slow", "error":
		if skipped, ok := c.server.refusals.allow(time.Now()); ok {
			event = log.Warn().Int("left_out", skipped)
		}
	}
	name, version := c.public.ClientSoftware()
	event.Err(c.reason).Str("connection", c.public.ID()).Str("listener", c.public.Listener()).
		Str("principal", c.public.Principal()).Str("software", name).Str("software_version", version).
		Msg("connection ended")
}
