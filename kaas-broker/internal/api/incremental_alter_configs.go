package api

// IncrementalAlterConfigs, key 44, v0-v1 (KIP-339).
//
// Each topic's changes are made together or not at all, and are durable and in force when they are answered. Deleting a key that is not set, or that does not
// exist, changes nothing and succeeds.
//
// Deviations: an unknown operation is INVALID_REQUEST for its resource (Kafka: UNKNOWN_SERVER_ERROR for the whole request). A running broker cannot be
// reconfigured yet: every change of a broker key but its deletion is answered as Kafka answers for read-only keys. There are no log4j loggers and
// no client metrics subscriptions to change.

import (
	"context"
	"errors"
	"maps"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/internal/metastore"
	"github.com/kaas-rs/kaas/kaas-broker/internal/topicconfig"
	"github.com/kaas-rs/kaas/kaas-protocol"
)

func (h *Handlers) incrementalAlterConfigs(ctx context.Context, r *protocol.Request, request *kmsg.IncrementalAlterConfigsRequest) (kmsg.Response, error) {
	response := responseTo[*kmsg.IncrementalAlterConfigsResponse](request)
	twice := repeated(request.Resources, func(wanted *kmsg.IncrementalAlterConfigsRequestResource) configResource {
		return configResource{wanted.ResourceType, wanted.ResourceName}
	})
	for _, wanted := range request.Resources {
		resource := configResource{wanted.ResourceType, wanted.ResourceName}
		err := ctx.Err()
		switch {
		case err != nil:
		case twice[resource]:
			err = refuse(kerr.InvalidRequest, "the request names the resource more than once")
		default:
			err = h.alterConfig(ctx, r.Conn, resource, configChanges(wanted.Configs), request.ValidateOnly)
		}
		row := kmsg.NewIncrementalAlterConfigsResponseResource()
		row.ResourceType, row.ResourceName = wanted.ResourceType, wanted.ResourceName
		row.ErrorCode, row.ErrorMessage = h.refusalOf("configuration of "+wanted.ResourceName, err)
		response.Resources = append(response.Resources, row)
	}
	return response, ctx.Err()
}

func configChanges(configs []kmsg.IncrementalAlterConfigsRequestResourceConfig) []topicconfig.Change {
	changes := make([]topicconfig.Change, 0, len(configs))
	for _, config := range configs {
		changes = append(changes, topicconfig.Change{Name: config.Name, Operation: topicconfig.Operation(config.Op), Value: config.Value})
	}
	return changes
}

func (h *Handlers) alterConfig(ctx context.Context, conn *protocol.Conn, resource configResource, changes []topicconfig.Change, validateOnly bool) error {
	if resource == (configResource{kind: kmsg.ConfigResourceTypeTopic}) {
		return refuse(kerr.InvalidRequest, "topics have no common defaults that could be set here")
	}
	if err := h.checkResource(resource); err != nil {
		return err
	}
	if err := h.mayConfig(conn, kmsg.ACLOperationAlterConfigs, resource); err != nil {
		return err
	}
	if resource.kind == kmsg.ConfigResourceTypeTopic {
		return h.alterTopicConfig(ctx, resource.name, changes, validateOnly)
	}
	return alterOtherConfig(resource, changes)
}

func (h *Handlers) alterTopicConfig(ctx context.Context, topic string, changes []topicconfig.Change, validateOnly bool) error {
	var refused error
	_, err := h.Topics.AlterTopicConfig(ctx, topic, validateOnly, func(overrides map[string]string) error {
		next, err := topicconfig.Apply(h.Config.Values, overrides, changes)
		if err != nil {
			refused = invalidConfig(err)
			return refused
		}
		clear(overrides)
		maps.Copy(overrides, next)
		return nil
	})
	switch {
	case refused != nil:
		return refused // without the store's words around it
	case errors.Is(err, metastore.ErrUnknownTopic):
		// As in Kafka, what is wrong with the changes themselves comes first.
		if _, err := topicconfig.Apply(h.Config.Values, nil, changes); err != nil {
			return invalidConfig(err)
		}
		return refuse(kerr.UnknownTopicOrPartition, "topic %s does not exist", topic)
	}
	return err
}

// alterOtherConfig refuses every change that would have an effect.
func alterOtherConfig(resource configResource, changes []topicconfig.Change) error {
	var names []string
	for _, change := range changes {
		if change.Operation != topicconfig.OperationDelete {
			names = append(names, change.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	keys := strings.Join(names, ", ")
	switch resource.kind {
	case kmsg.ConfigResourceTypeBrokerLogger:
		return refuse(kerr.InvalidConfig, "this broker has no loggers by name: %s", keys)
	case kmsg.ConfigResourceTypeClientMetrics:
		return refuse(kerr.InvalidRequest, "client metrics subscriptions are not supported: %s", keys)
	default:
		return refuse(kerr.InvalidRequest, "broker configuration cannot be changed while the broker runs: %s; set it in the file and restart", keys)
	}
}
