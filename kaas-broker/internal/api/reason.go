package api

import (
	"context"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// reasons are those for which Kafka's own clients join and leave, by how their texts begin (KIP-800). Clients write what they like, so that the text itself
// cannot be the attribute of a metric; it is in the log.
var reasons = [...]struct{ text, class string }{
	{"need to re-join with the given member-id", "member_id"},
	{"group is already rebalancing", "rebalancing"},
	{"rebalance failed", "rebalance_failed"},
	{"rebalance enforced", "enforced"},
	{"need to revoke partitions", "revocation"},
	{"cached metadata has changed", "metadata"},
	{"received assignment does not match", "subscription"},
	{"the consumer is being closed", "closed"},
	{"consumer poll timeout has expired", "poll_timeout"},
	{"the consumer unsubscribed", "unsubscribed"},
	{"member was removed by an admin", "administrator"},
}

// classOf is one of a few names for a reason.
func classOf(reason string) string {
	if reason == "" {
		return "none"
	}
	for _, known := range reasons {
		if strings.HasPrefix(reason, known.text) {
			return known.class
		}
	}
	return "other"
}

// noteReason counts a member that joins or leaves.
func (h *Handlers) noteReason(ctx context.Context, request, reason string) {
	h.Reasons.Add(ctx, 1, metric.WithAttributes(attribute.String("request", request), attribute.String("reason", classOf(reason))))
}
