package api

// DescribeConfigs, key 32, v0-v4 (KIP-226 sources and synonyms from v1, KIP-569 types and documentation from v3).
//
// Topics answer Kafka's 31 topic keys, brokers its 285 broker keys; null or no names mean all, names that do not exist are left out. The broker "" means the dynamic
// defaults of all brokers, of which there are none. v0 never says that a value is the default, as Kafka.
//
// Deviations: an unknown resource type is refused alone, not with the whole request. Broker values are all read-only: a running broker cannot be
// reconfigured yet. There are no log4j loggers and no client metrics subscriptions, so both answer an empty list. A request that repeats a resource very often is
// refused the rest.

import (
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/config"
	"github.com/kaas-rs/kaas/kaas-broker/config/configdef"
	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
	"github.com/kaas-rs/kaas/kaas-broker/internal/topicconfig"
	"github.com/kaas-rs/kaas/kaas-protocol"
)

// maxRepeats bounds how many resources of a request are described again: a few bytes asked would cost a hundred thousand answered.
const maxRepeats = 100

// configBytes is about what the answer takes for one configuration, with its documentation.
const configBytes = 300

func (h *Handlers) describeConfigs(ctx context.Context, r *protocol.Request, request *kmsg.DescribeConfigsRequest) (kmsg.Response, error) {
	response := responseTo[*kmsg.DescribeConfigsResponse](request)
	if err := countAnswer(ctx, r, h.sizeOfConfigs(request)); err != nil {
		return nil, err
	}
	snapshot := h.Catalog.Snapshot()
	seen, repeats := map[configResource]bool{}, 0
	for _, wanted := range request.Resources {
		resource := configResource{wanted.ResourceType, wanted.ResourceName}
		if seen[resource] {
			repeats++
		}
		seen[resource] = true
		row := kmsg.NewDescribeConfigsResponseResource()
		row.ResourceType, row.ResourceName, row.ErrorMessage = wanted.ResourceType, wanted.ResourceName, new(string)
		entries, err := h.configEntries(r.Conn, snapshot, resource, wanted.ConfigNames)
		if repeats > maxRepeats {
			entries, err = nil, refuse(kerr.InvalidRequest, "the request repeats too many resources")
		}
		if err != nil {
			row.ErrorCode, row.ErrorMessage = h.refusalOf("resource "+wanted.ResourceName, err)
		}
		for _, entry := range entries {
			row.Configs = append(row.Configs, describedConfig(request, entry))
		}
		response.Resources = append(response.Resources, row)
	}
	return response, ctx.Err()
}

// sizeOfConfigs is about what the answer takes: each resource once, and what may be repeated.
func (h *Handlers) sizeOfConfigs(request *kmsg.DescribeConfigsRequest) int {
	snapshot, size := h.Catalog.Snapshot(), 0
	seen, repeats := map[configResource]bool{}, 0
	for _, wanted := range request.Resources {
		resource := configResource{wanted.ResourceType, wanted.ResourceName}
		if seen[resource] {
			repeats++
		}
		if seen[resource] = true; repeats > maxRepeats {
			return size
		}
		keys := 0
		if topic, known := snapshot.ByName(resource.name); known && resource.kind == kmsg.ConfigResourceTypeTopic {
			keys = len(topicconfig.Keys())
			for _, value := range topic.Overrides {
				size += 2 * len(value) // as the value and as a synonym
			}
		} else if resource.kind == kmsg.ConfigResourceTypeBroker {
			keys = len(config.Keys())
		}
		if names := len(wanted.ConfigNames); names > 0 {
			keys = min(keys, names)
		}
		size += configBytes * keys
	}
	return size
}

func (h *Handlers) configEntries(conn *protocol.Conn, snapshot *catalog.Snapshot, resource configResource, names []string) ([]configdef.Entry, error) {
	if err := h.checkResource(resource); err != nil {
		return nil, err
	}
	if err := h.mayConfig(conn, kmsg.ACLOperationDescribeConfigs, resource); err != nil {
		return nil, err
	}
	switch {
	case resource.kind == kmsg.ConfigResourceTypeTopic:
		topic, err := findTopic(snapshot, resource.name)
		if err != nil {
			return nil, err
		}
		return described(names, topicKeyNames(), func(names []string) []configdef.Entry {
			return topicconfig.Describe(h.Config.Values, topic.Overrides, names)
		}), nil
	case resource.kind == kmsg.ConfigResourceTypeBroker && resource.name != "":
		return described(names, brokerKeyNames(), h.Config.Values.Describe), nil
	}
	return nil, nil
}

// described reduces the wanted names to those that exist, each once, before anything is looked up for them.
func described(wanted []string, existing map[string]bool, describe func(names []string) []configdef.Entry) []configdef.Entry {
	if len(wanted) == 0 {
		return describe(nil)
	}
	var names []string
	for _, name := range wanted {
		if existing[name] {
			names = append(names, name)
			delete(existing, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return describe(names)
}

func topicKeyNames() map[string]bool {
	return namesOf(topicconfig.Keys(), func(k topicconfig.Key) string { return k.Name })
}

func brokerKeyNames() map[string]bool {
	return namesOf(config.Keys(), func(k config.Key) string { return k.Name })
}

func namesOf[K any](keys []K, name func(K) string) map[string]bool {
	names := make(map[string]bool, len(keys))
	for _, key := range keys {
		names[name(key)] = true
	}
	return names
}

// describedConfig leaves out what the client did not ask for; what its version does not have is left out by the encoding.
func describedConfig(request *kmsg.DescribeConfigsRequest, entry configdef.Entry) kmsg.DescribeConfigsResponseResourceConfig {
	row := kmsg.NewDescribeConfigsResponseResourceConfig()
	row.Name, row.Value, row.ReadOnly, row.IsSensitive = entry.Name, entry.Value, entry.ReadOnly, entry.Sensitive
	row.Source, row.ConfigType = kmsg.ConfigSource(entry.Source), kmsg.ConfigType(entry.Type)
	if request.IncludeDocumentation {
		row.Documentation = &entry.Doc
	}
	if !request.IncludeSynonyms {
		return row
	}
	for _, synonym := range entry.Synonyms {
		s := kmsg.NewDescribeConfigsResponseResourceConfigConfigSynonym()
		s.Name, s.Value, s.Source = synonym.Name, synonym.Value, kmsg.ConfigSource(synonym.Source)
		row.ConfigSynonyms = append(row.ConfigSynonyms, s)
	}
	return row
}
