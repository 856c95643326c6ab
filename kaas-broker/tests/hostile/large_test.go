package hostile

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

// Many clients send the largest request that is allowed at the same time: all but one wait, with little of it.
func TestManyOfTheLargestRequests(t *testing.T) {
	metadata := kmsg.NewPtrMetadataRequest()
	metadata.Version = 8
	for len(metadata.Topics) < 16*mib/103 {
		name := string(make([]byte, 100))
		metadata.Topics = append(metadata.Topics, kmsg.MetadataRequestTopic{Topic: &name})
	}
	for _, tested := range []struct {
		name    string
		request kmsg.Request
		bound   int64
	}{
		{"records", produceRequest(8, "large", -1, make([]byte, 99*mib)), 600 * mib},
		{"plain", metadata, 1400 * mib},
	} {
		t.Run(tested.name, func(t *testing.T) {
			broker := start(t, harness.Options{})
			createTopic(t, broker.Bootstrap(), "large", 1)
			watch(t, broker, tested.bound)
			runBeside(t, broker.Bootstrap())
			frame := encode(tested.request, 1)
			together(t, pick(60, 200), func(int) error {
				client := dial(t, broker.Bootstrap())
				if _, err := client.Write(frame); err != nil {
					return err
				}
				_, err := client.receive(3 * time.Minute)
				return err
			})
		})
	}
}

// Many clients ask for the largest answers at the same time, and read them late or never.
func TestManyOfTheLargestAnswers(t *testing.T) {
	broker := start(t, harness.Options{Overrides: map[string]string{"group.initial.rebalance.delay.ms": "0"}})
	createTopic(t, broker.Bootstrap(), "committed", 100)
	fillGroups(t, broker.Bootstrap())
	watch(t, broker, 1200*mib)
	runBeside(t, broker.Bootstrap())
	request := kmsg.NewPtrOffsetFetchRequest()
	request.Version = 8
	for range 150 { // 60 MiB of answer
		group := kmsg.NewOffsetFetchRequestGroup()
		group.Group = "committed"
		request.Groups = append(request.Groups, group)
	}
	clients := pick(12, 100)
	for range clients {
		if err := dial(t, broker.Bootstrap()).send(request); err != nil {
			t.Fatal(err)
		}
	}
	together(t, clients, func(int) error {
		_, err := dial(t, broker.Bootstrap()).call(request, 3*time.Minute)
		return err
	})
}
