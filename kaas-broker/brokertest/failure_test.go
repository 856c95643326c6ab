package brokertest

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestFailureAnswersWhatWasAsked(t *testing.T) {
	const code = 7
	topic := "orders"
	tests := map[string]struct {
		request kmsg.Request
		found   func(response kmsg.Response) bool
	}{
		"produce": {
			&kmsg.ProduceRequest{Topics: []kmsg.ProduceRequestTopic{{Topic: topic, Partitions: []kmsg.ProduceRequestTopicPartition{{Partition: 2, Records: []byte("r")}}}}},
			func(response kmsg.Response) bool {
				row := response.(*kmsg.ProduceResponse).Topics[0]
				return row.Topic == topic && row.Partitions[0].Partition == 2 && row.Partitions[0].ErrorCode == code
			},
		},
		"fetch with rows leaves the whole alone": {
			&kmsg.FetchRequest{Topics: []kmsg.FetchRequestTopic{{TopicID: [16]byte{1}, Partitions: []kmsg.FetchRequestTopicPartition{{Partition: 3}}}}},
			func(response kmsg.Response) bool {
				fetch := response.(*kmsg.FetchResponse)
				row := fetch.Topics[0]
				return fetch.ErrorCode == 0 && row.TopicID == [16]byte{1} && row.Partitions[0].Partition == 3 && row.Partitions[0].ErrorCode == code
			},
		},
		"fetch without rows": {
			&kmsg.FetchRequest{},
			func(response kmsg.Response) bool { return response.(*kmsg.FetchResponse).ErrorCode == code },
		},
		"metadata": {
			&kmsg.MetadataRequest{Topics: []kmsg.MetadataRequestTopic{{Topic: &topic}}},
			func(response kmsg.Response) bool {
				row := response.(*kmsg.MetadataResponse).Topics[0]
				return *row.Topic == topic && row.ErrorCode == code
			},
		},
		"create topics": {
			&kmsg.CreateTopicsRequest{Topics: []kmsg.CreateTopicsRequestTopic{{Topic: topic, NumPartitions: 4}}},
			func(response kmsg.Response) bool {
				row := response.(*kmsg.CreateTopicsResponse).Topics[0]
				return row.Topic == topic && row.ErrorCode == code
			},
		},
		"delete topics by name": {
			&kmsg.DeleteTopicsRequest{TopicNames: []string{topic, "b"}},
			func(response kmsg.Response) bool {
				rows := response.(*kmsg.DeleteTopicsResponse).Topics
				return len(rows) == 2 && *rows[0].Topic == topic && *rows[1].Topic == "b" && rows[1].ErrorCode == code
			},
		},
		"describe configs": {
			&kmsg.DescribeConfigsRequest{Resources: []kmsg.DescribeConfigsRequestResource{{ResourceType: 2, ResourceName: topic, ConfigNames: []string{"a"}}}},
			func(response kmsg.Response) bool {
				row := response.(*kmsg.DescribeConfigsResponse).Resources[0]
				return row.ResourceType == 2 && row.ResourceName == topic && row.ErrorCode == code && len(row.Configs) == 0
			},
		},
		"init producer id": {
			&kmsg.InitProducerIDRequest{},
			func(response kmsg.Response) bool { return response.(*kmsg.InitProducerIDResponse).ErrorCode == code },
		},
		"join group": {
			&kmsg.JoinGroupRequest{Protocols: []kmsg.JoinGroupRequestProtocol{{Name: "range"}}},
			func(response kmsg.Response) bool { return response.(*kmsg.JoinGroupResponse).ErrorCode == code },
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			response := failure(test.request, code)
			if response.Key() != test.request.Key() || !test.found(response) {
				t.Errorf("%v in %+v is not where it belongs", kerr.ErrorForCode(code), response)
			}
		})
	}
}
