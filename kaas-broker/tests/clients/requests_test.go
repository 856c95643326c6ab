package clients

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// deleteTopic removes a topic and fails the test when the broker does not.
func deleteTopic(t *testing.T, address, topic string) {
	t.Helper()
	request := kmsg.NewPtrDeleteTopicsRequest()
	request.TimeoutMillis = 30_000
	request.TopicNames = []string{topic}
	asked := kmsg.NewDeleteTopicsRequestTopic()
	asked.Topic = &topic
	request.Topics = append(request.Topics, asked)
	response, err := request.RequestWith(t.Context(), newFranz(t, address))
	if err == nil {
		err = kerr.ErrorForCode(response.Topics[0].ErrorCode)
	}
	if err != nil {
		t.Fatalf("delete topic %s: %v", topic, err)
	}
}

// deleteRecords moves the start of partition 0.
func deleteRecords(t *testing.T, address, topic string, before int64) {
	t.Helper()
	request := kmsg.NewPtrDeleteRecordsRequest()
	request.TimeoutMillis = 30_000
	partition := kmsg.NewDeleteRecordsRequestTopicPartition()
	partition.Offset = before
	asked := kmsg.NewDeleteRecordsRequestTopic()
	asked.Topic = topic
	asked.Partitions = append(asked.Partitions, partition)
	request.Topics = append(request.Topics, asked)
	response, err := request.RequestWith(t.Context(), newFranz(t, address))
	if err == nil {
		err = kerr.ErrorForCode(response.Topics[0].Partitions[0].ErrorCode)
	}
	if err != nil {
		t.Fatalf("delete records of %s: %v", topic, err)
	}
}

// topicConfig is the value of one setting.
func topicConfig(t *testing.T, address, topic, name string) string {
	t.Helper()
	request := kmsg.NewPtrDescribeConfigsRequest()
	asked := kmsg.NewDescribeConfigsRequestResource()
	asked.ResourceType = kmsg.ConfigResourceTypeTopic
	asked.ResourceName = topic
	asked.ConfigNames = []string{name}
	request.Resources = append(request.Resources, asked)
	response, err := request.RequestWith(t.Context(), newFranz(t, address))
	if err == nil {
		err = kerr.ErrorForCode(response.Resources[0].ErrorCode)
	}
	if err != nil {
		t.Fatalf("describe %s: %v", topic, err)
	}
	if len(response.Resources[0].Configs) != 1 || response.Resources[0].Configs[0].Value == nil {
		t.Fatalf("%s of %s is described as %+v", name, topic, response.Resources[0].Configs)
	}
	return *response.Resources[0].Configs[0].Value
}

// topicError is what Metadata says about a topic, without creating it.
func topicError(t *testing.T, address, topic string) int16 {
	t.Helper()
	request := kmsg.NewPtrMetadataRequest()
	request.AllowAutoTopicCreation = false
	asked := kmsg.NewMetadataRequestTopic()
	asked.Topic = &topic
	request.Topics = append(request.Topics, asked)
	response, err := request.RequestWith(t.Context(), newFranz(t, address))
	if err != nil {
		t.Fatal(err)
	}
	return response.Topics[0].ErrorCode
}

// endOffset is the high watermark of a partition.
func endOffset(t *testing.T, address, topic string, partition int32) int64 {
	t.Helper()
	request := kmsg.NewPtrListOffsetsRequest()
	request.ReplicaID = -1
	end := kmsg.NewListOffsetsRequestTopicPartition()
	end.Partition, end.Timestamp = partition, -1
	asked := kmsg.NewListOffsetsRequestTopic()
	asked.Topic = topic
	asked.Partitions = append(asked.Partitions, end)
	request.Topics = append(request.Topics, asked)
	response, err := request.RequestWith(t.Context(), newFranz(t, address))
	if err == nil {
		err = kerr.ErrorForCode(response.Topics[0].Partitions[0].ErrorCode)
	}
	if err != nil {
		t.Fatalf("list offsets of %s-%d: %v", topic, partition, err)
	}
	return response.Topics[0].Partitions[0].Offset
}
