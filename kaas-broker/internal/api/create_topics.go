package api

// CreateTopics, key 19, v0-v7 (KIP-464 defaults with -1, KIP-525 configuration in the answer, KIP-516 topic ids).
//
// Checks come in Kafka's order: name, existence, configuration, replication factor or assignment, number of partitions. One topic's fault is no other's, except that a
// request for more than 10,000 partitions is refused as a whole. The answer comes when the topic is durable and its partitions are served or the client's time is up.
//
// Deviations: there is one copy of each partition, on shared storage, so a replication factor above 1 is accepted and the answer says 1 (Kafka with one
// broker: INVALID_REPLICATION_FACTOR). validate_only answers no topic id (Kafka: one that is never used). Two names of one request that differ in dots and
// underscores only collide. A topic stays within 10,000 partitions.

import (
	"context"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
	"github.com/kaas-rs/kaas/kaas-broker/internal/metastore"
	"github.com/kaas-rs/kaas/kaas-broker/internal/topicconfig"
	"github.com/kaas-rs/kaas/kaas-protocol"
)

// creation is one topic of a request on its way.
type creation struct {
	wanted *kmsg.CreateTopicsRequestTopic
	new    metastore.NewTopic
	topic  *catalog.Topic // what became of it
	err    error
}

func (h *Handlers) createTopics(ctx context.Context, r *protocol.Request, request *kmsg.CreateTopicsRequest) (kmsg.Response, error) {
	creations := h.planTopics(r.Conn, request)
	client := patienceOf(r, request.TimeoutMillis)
	for _, c := range creations {
		if c.err == nil {
			c.topic, c.err = h.createTopic(ctx, client, c.new)
		}
	}
	response := responseTo[*kmsg.CreateTopicsResponse](request)
	for _, c := range creations {
		if c.err == nil && !request.ValidateOnly {
			h.awaitServed(ctx, c.topic, 0, client.until)
		}
		response.Topics = append(response.Topics, h.createdTopic(r.Conn, c))
	}
	return response, ctx.Err()
}

// planTopics judges what can be judged without changing anything. A name that is given twice gets one row.
func (h *Handlers) planTopics(conn *protocol.Conn, request *kmsg.CreateTopicsRequest) []*creation {
	twice := repeated(request.Topics, func(t *kmsg.CreateTopicsRequestTopic) string { return t.Topic })
	anyTopic := h.mayCluster(conn, kmsg.ACLOperationCreate)
	snapshot := h.Catalog.Snapshot()
	answered := map[string]bool{}
	var creations []*creation
	var total partitionCount
	for i := range request.Topics {
		c := &creation{wanted: &request.Topics[i]}
		switch name := c.wanted.Topic; {
		case answered[name]:
			continue
		case twice[name]:
			answered[name] = true
			c.err = errTopicTwice
		case !anyTopic && !h.mayTopic(conn, kmsg.ACLOperationCreate, name):
			c.err = kerr.TopicAuthorizationFailed
		default:
			c.new, c.err = h.planTopic(snapshot, c.wanted)
			c.new.ValidateOnly = request.ValidateOnly
			total.add(c.new.Partitions)
		}
		creations = append(creations, c)
	}
	if total.tooMany() {
		for _, c := range creations {
			if c.err == nil {
				c.err = errTooManyPartitions
			}
		}
	}
	return creations
}

// planTopic is the topic that the client wants. The metadata store judges again, under its lock.
func (h *Handlers) planTopic(snapshot *catalog.Snapshot, wanted *kmsg.CreateTopicsRequestTopic) (metastore.NewTopic, error) {
	plan := metastore.NewTopic{Name: wanted.Topic}
	if err := checkNewName(snapshot, wanted.Topic); err != nil {
		return plan, err
	}
	var err error
	if plan.Config, err = h.topicOverrides(wanted.Configs); err != nil {
		return plan, err
	}
	plan.Partitions, err = h.partitionsOf(wanted)
	return plan, err
}

func checkNewName(snapshot *catalog.Snapshot, name string) error {
	if err := catalog.ValidateName(name); err != nil {
		return err
	}
	if other, taken := snapshot.Collision(name); taken {
		return refuse(kerr.InvalidTopicException, "topic %s differs from the existing topic %s in dots and underscores only", name, other)
	}
	if _, exists := snapshot.ByName(name); exists {
		return refuse(kerr.TopicAlreadyExists, "topic %s exists already", name)
	}
	return nil
}

// topicOverrides are the topic's own values. Of a key that is given twice the last value counts.
func (h *Handlers) topicOverrides(configs []kmsg.CreateTopicsRequestTopicConfig) (map[string]string, error) {
	overrides := make(map[string]string, len(configs))
	var missing []string
	for _, config := range configs {
		if config.Value == nil {
			missing = append(missing, config.Name)
			continue
		}
		overrides[config.Name] = *config.Value
	}
	if len(missing) > 0 {
		return nil, refuse(kerr.InvalidConfig, "configuration without a value: %s", strings.Join(missing, ", "))
	}
	return overrides, invalidConfig(topicconfig.Validate(h.Config.Values, overrides))
}

// partitionsOf is the number of partitions that a topic shall have.
func (h *Handlers) partitionsOf(wanted *kmsg.CreateTopicsRequestTopic) (int32, error) {
	const byDefault = -1
	replicas, partitions := wanted.ReplicationFactor, wanted.NumPartitions
	switch {
	case len(wanted.ReplicaAssignment) > 0 && (replicas != byDefault || partitions != byDefault):
		return 0, refuse(kerr.InvalidRequest, "with a manual assignment, number of partitions and replication factor have to be -1")
	case len(wanted.ReplicaAssignment) > 0:
		return h.assignedPartitions(wanted.ReplicaAssignment)
	case replicas < byDefault || replicas == 0:
		return 0, refuse(kerr.InvalidReplicationFactor, "the replication factor has to be above 0, or -1 for the default")
	case partitions < byDefault || partitions == 0:
		return 0, refuse(kerr.InvalidPartitions, "the number of partitions has to be above 0, or -1 for the default")
	case partitions == byDefault:
		return h.Config.Topics.Partitions, nil
	}
	return partitions, nil
}

// assignedPartitions counts the partitions of a manual assignment, which must be numbered from 0 without a gap, in any order.
func (h *Handlers) assignedPartitions(assignment []kmsg.CreateTopicsRequestTopicReplicaAssignment) (int32, error) {
	seen := make(map[int32]bool, len(assignment))
	for _, partition := range assignment {
		if seen[partition.Partition] {
			return 0, refuse(kerr.InvalidReplicaAssignment, "partition %d is assigned more than once", partition.Partition)
		}
		seen[partition.Partition] = true
		if err := h.checkReplicas(partition.Replicas); err != nil {
			return 0, err
		}
	}
	for index := range int32(len(assignment)) {
		if !seen[index] {
			return 0, refuse(kerr.InvalidReplicaAssignment, "assigned partitions have to be numbered from 0 without a gap; %d is missing", index)
		}
	}
	return int32(len(assignment)), nil
}

func (h *Handlers) createTopic(ctx context.Context, client patience, plan metastore.NewTopic) (made *catalog.Topic, err error) {
	err = client.change(ctx, func(ctx context.Context) error {
		made, err = h.Topics.CreateTopic(ctx, plan)
		return err
	})
	return made, err
}

// createdTopic is the answer for one topic. What it says of the configuration is for who may describe it.
func (h *Handlers) createdTopic(conn *protocol.Conn, c *creation) kmsg.CreateTopicsResponseTopic {
	row := kmsg.NewCreateTopicsResponseTopic()
	row.Topic, row.Configs = c.wanted.Topic, []kmsg.CreateTopicsResponseTopicConfig{}
	row.ErrorCode, row.ErrorMessage = h.refusalOf(c.wanted.Topic, c.err)
	if c.err != nil {
		return row
	}
	row.TopicID = c.topic.ID
	if !h.mayTopic(conn, kmsg.ACLOperationDescribeConfigs, c.topic.Name) {
		row.ConfigErrorCode = kerr.TopicAuthorizationFailed.Code
		return row
	}
	row.NumPartitions, row.ReplicationFactor = c.topic.Partitions, 1
	for _, entry := range topicconfig.Describe(h.Config.Values, c.topic.Overrides, nil) {
		config := kmsg.NewCreateTopicsResponseTopicConfig()
		config.Name, config.Value, config.Source = entry.Name, entry.Value, int8(entry.Source)
		config.ReadOnly, config.IsSensitive = entry.ReadOnly, entry.Sensitive
		row.Configs = append(row.Configs, config)
	}
	return row
}
