package transcripts

import "github.com/twmb/franz-go/pkg/kmsg"

func describeClusterScript(t *Talk) {
	request := kmsg.NewPtrDescribeClusterRequest()
	t.AskEach("the cluster", 0, 1, request)
	request.IncludeClusterAuthorizedOperations = true
	t.AskEach("authorized operations", 0, 1, request)
	for _, endpoint := range []int8{0, 2, 3, -1} {
		request := kmsg.NewPtrDescribeClusterRequest()
		request.EndpointType = endpoint
		t.Ask("endpoint type "+string('0'+rune(endpoint)), 1, request)
	}
}

func describeClusterV2Script(t *Talk) {
	request := kmsg.NewPtrDescribeClusterRequest()
	request.IncludeFencedBrokers = true
	t.Ask("the cluster with fenced brokers", 2, request)
	request.IncludeFencedBrokers = false
	t.Ask("the cluster", 2, request)
	request.IncludeClusterAuthorizedOperations = true
	t.Ask("authorized operations", 2, request)
	request.EndpointType = 2
	t.Ask("controllers", 2, request)
}
