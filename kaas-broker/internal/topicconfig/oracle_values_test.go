package topicconfig_test

import (
	"fmt"
	"net"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// valueRow is one line of the recorded battery: settings of a topic, and what Kafka answered to CreateTopics with them.
type valueRow struct {
	Config  map[string]string
	Code    int16
	Message string
}

// compareValues offers the recorded settings to Kafka again, in topics that are only validated.
func compareValues(t *testing.T, conn net.Conn) {
	t.Helper()
	var rows []valueRow
	recorded(t, "kafka-3.7.2-values.json", &rows)
	request := kmsg.NewPtrCreateTopicsRequest()
	request.Version, request.TimeoutMillis, request.ValidateOnly = 7, 30000, true
	wanted := map[string]valueRow{}
	for i, row := range rows {
		topic := kmsg.NewCreateTopicsRequestTopic()
		topic.Topic, topic.NumPartitions, topic.ReplicationFactor = fmt.Sprintf("values-%d", i), 1, 1
		for name, value := range row.Config {
			setting := kmsg.NewCreateTopicsRequestTopicConfig()
			setting.Name, setting.Value = name, &value
			topic.Configs = append(topic.Configs, setting)
		}
		request.Topics = append(request.Topics, topic)
		wanted[topic.Topic] = row
	}
	response := kmsg.NewPtrCreateTopicsResponse()
	ask(t, conn, request, response)
	if len(response.Topics) != len(rows) {
		t.Fatalf("%d answers to %d topics", len(response.Topics), len(rows))
	}
	for _, topic := range response.Topics {
		message := ""
		if topic.ErrorMessage != nil {
			message = *topic.ErrorMessage
		}
		if row := wanted[topic.Topic]; topic.ErrorCode != row.Code || message != row.Message {
			t.Errorf("%v: Kafka says %d %q, recorded %d %q", row.Config, topic.ErrorCode, message, row.Code, row.Message)
		}
	}
}
