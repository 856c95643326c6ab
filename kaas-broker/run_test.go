package broker_test

import (
	"context"
	"errors"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	broker "github.com/kaas-rs/kaas/kaas-broker"
	"github.com/kaas-rs/kaas/kaas-protocol"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

var errBroken = errors.New("broken on purpose")

func TestRunLeavesNothing(t *testing.T) {
	check := leakCheck(t)
	b := open(t, broker.Options{Config: load(t, "--health-addr", "127.0.0.1:0")})
	stop := serve(t, b)
	if err := b.CreateTopic(within(t), "orders", 4, nil); err != nil {
		t.Fatal(err)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Errorf("close after run: %v", err)
	}
	check()
}

// A request that is under way when the broker is told to end is answered; the broker ends after that.
func TestDrainAnswersWhatIsUnderWay(t *testing.T) {
	check := leakCheck(t)
	const keyProduce = 0
	begun, proceed := make(chan struct{}), make(chan struct{})
	b := open(t, broker.Options{WrapAPI: func(api protocol.API) protocol.API {
		start := api.Start
		if api.Key == keyProduce {
			api.Start = func(ctx context.Context, r *protocol.Request) protocol.FinishFunc {
				finish := start(ctx, r)
				return func(ctx context.Context) (protocol.Reply, error) {
					close(begun)
					<-proceed
					return finish(ctx)
				}
			}
		}
		return api
	}})
	stop := serve(t, b)
	if err := b.CreateTopic(within(t), "orders", 1, nil); err != nil {
		t.Fatal(err)
	}
	client := newClient(t, b, kgo.DefaultProduceTopic("orders"), kgo.DisableIdempotentWrite(), kgo.RecordRetries(0))
	answered := make(chan error, 1)
	client.Produce(within(t), kgo.StringRecord("x"), func(_ *kgo.Record, err error) { answered <- err })
	<-begun
	ended := make(chan error, 1)
	go func() { ended <- stop() }()
	for b.Ready() == nil {
		select {
		case err := <-ended:
			t.Fatalf("ended before the request was answered: %v", err)
		default:
		}
	}
	close(proceed)
	if err := <-answered; err != nil {
		t.Errorf("the request under way: %v", err)
	}
	if err := <-ended; err != nil {
		t.Errorf("run: %v", err)
	}
	client.Close()
	check()
}

// Long polls do not hold a drain up: they are answered with what there is.
func TestDrainEndsLongPolls(t *testing.T) {
	const keyFetch, longest = 1, 10 * 60 * 1000
	begun := make(chan struct{}, 10)
	b := open(t, broker.Options{WrapAPI: func(api protocol.API) protocol.API {
		start := api.Start
		if api.Key == keyFetch {
			api.Start = func(ctx context.Context, r *protocol.Request) protocol.FinishFunc {
				finish := start(ctx, r)
				return func(ctx context.Context) (protocol.Reply, error) {
					begun <- struct{}{}
					return finish(ctx)
				}
			}
		}
		return api
	}})
	stop := serve(t, b)
	if err := b.CreateTopic(within(t), "orders", 1, nil); err != nil {
		t.Fatal(err)
	}
	partition := kmsg.NewFetchRequestTopicPartition()
	partition.PartitionMaxBytes = 1 << 20
	topic := kmsg.NewFetchRequestTopic()
	topic.Topic, topic.Partitions = "orders", []kmsg.FetchRequestTopicPartition{partition}
	request := kmsg.NewPtrFetchRequest()
	request.ReplicaID, request.MaxWaitMillis, request.MinBytes, request.MaxBytes, request.Topics = -1, longest, 1, 1<<20, []kmsg.FetchRequestTopic{topic}
	versions := kversion.Stable()
	versions.SetMaxKeyVersion(keyFetch, 12) // the last that names topics
	client := newClient(t, b, kgo.MaxVersions(versions))
	answered := make(chan error, 1)
	ctx := within(t)
	go func() {
		_, err := client.SeedBrokers()[0].Request(ctx, request)
		answered <- err
	}()
	<-begun
	if err := stop(); err != nil {
		t.Errorf("run: %v", err)
	}
	if err := <-answered; err != nil {
		t.Errorf("the long poll: %v", err)
	}
}

func TestRecordsOutliveTheBrokerInItsMemory(t *testing.T) {
	memory := vfs.NewMem(16 << 20)
	var cluster string
	for round := range 3 {
		b := open(t, broker.Options{Memory: memory})
		stop := serve(t, b)
		if round == 0 {
			cluster = b.ClusterID()
			if err := b.CreateTopic(within(t), "orders", 1, nil); err != nil {
				t.Fatal(err)
			}
		}
		client := newClient(t, b, kgo.DefaultProduceTopic("orders"))
		record, err := client.ProduceSync(within(t), kgo.StringRecord("x")).First()
		client.Close()
		if err != nil || record.Offset != int64(round) {
			t.Fatalf("round %d: offset %d, %v", round, record.Offset, err)
		}
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		if b.ClusterID() != cluster {
			t.Errorf("round %d: cluster %s, before it was %s", round, b.ClusterID(), cluster)
		}
	}
}

func TestCreateTopicSaysWhyNot(t *testing.T) {
	b := open(t, broker.Options{})
	serve(t, b)
	if err := b.CreateTopic(within(t), "orders", 1, nil); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		topic      string
		partitions int32
		config     map[string]string
	}{
		"exists":        {"orders", 1, nil},
		"bad name":      {"..", 1, nil},
		"no partitions": {"none", 0, nil},
		"bad config":    {"bad", 1, map[string]string{"retention.ms": "soon"}},
	} {
		t.Run(name, func(t *testing.T) {
			if err := b.CreateTopic(within(t), test.topic, test.partitions, test.config); err == nil {
				t.Error("created")
			}
		})
	}
}

func TestRunUnderAnEndedContext(t *testing.T) {
	check := leakCheck(t)
	b := open(t, broker.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.Run(ctx); err != nil {
		t.Error(err)
	}
	check()
}
