package brokertest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kaas-rs/kaas/kaas-broker/brokertest"
)

// In a test of your own, t is the test's.
func Example() {
	test := func(t testing.TB) {
		broker := brokertest.Start(t)
		broker.CreateTopic("orders", 1, nil)

		client, err := kgo.NewClient(kgo.SeedBrokers(broker.Bootstrap()...), kgo.ConsumeTopics("orders"), kgo.DefaultProduceTopic("orders"))
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		if err := client.ProduceSync(context.Background(), kgo.StringRecord("one coffee")).FirstErr(); err != nil {
			t.Fatal(err)
		}
		fetches := client.PollFetches(context.Background())
		for _, record := range fetches.Records() {
			fmt.Printf("%s, offset %d\n", record.Value, record.Offset)
		}
	}
	runAsTest(test)
	// Output: one coffee, offset 0
}

// The answer to the first Produce request is lost. The client under test sends the record again, and the broker recognizes it.
func ExampleBroker_Intercept() {
	test := func(t testing.TB) {
		broker := brokertest.Start(t)
		broker.CreateTopic("orders", 1, nil)
		const produce = 0
		lost := broker.Intercept(produce, 1, brokertest.DropAnswer())

		client, err := kgo.NewClient(
			kgo.SeedBrokers(broker.Bootstrap()...), kgo.DefaultProduceTopic("orders"),
			kgo.MetadataMinAge(10*time.Millisecond), // so that the second attempt does not wait for 5 s
		)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		first, err := client.ProduceSync(context.Background(), kgo.StringRecord("one coffee")).First()
		fmt.Println(err, "offset", first.Offset, "after", lost.Hits(), "lost answer")
		second, err := client.ProduceSync(context.Background(), kgo.StringRecord("one cake")).First()
		fmt.Println(err, "offset", second.Offset)
	}
	runAsTest(test)
	// Output:
	// <nil> offset 0 after 1 lost answer
	// <nil> offset 1
}
