package api_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/config"
	"github.com/kaas-rs/kaas/kaas-broker/internal/api"
	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
	"github.com/kaas-rs/kaas/kaas-broker/internal/metastore"
	"github.com/kaas-rs/kaas/kaas-broker/internal/ownership"
	"github.com/kaas-rs/kaas/kaas-broker/internal/producerids"
	"github.com/kaas-rs/kaas/kaas-broker/internal/topicconfig"
	"github.com/kaas-rs/kaas/kaas-codec"
	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-coordinator"
	"github.com/kaas-rs/kaas/kaas-protocol"
	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/clusterdir"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

const (
	nodeID       = 7
	listenerName = "CLIENTS"
	host, port   = "broker.example", 9092
)

// bench is a whole broker without sockets: real topics, partitions and files, in memory.
type bench struct {
	t            testing.TB
	conn         *protocol.Conn
	fs           vfs.FS
	volume       *storage.Volume
	engine       *storage.Engine
	catalog      *catalog.Catalog
	topics       *metastore.Store
	partitions   *ownership.Manager
	tripwires    *batch.Tripwires
	groups       api.Groups
	transactions api.Transactions
	rows         map[int16]protocol.API
}

// setup is what a test may choose.
type setup struct {
	config     config.Config
	fs         vfs.FS
	wrap       func(*setup, api.Partitions) api.Partitions
	authorizer api.Authorizer
	draining   chan struct{}
	groups     *coordinator.Options // nil: nobody coordinates groups
	// transactions puts something in front of the coordinator; nil: nothing.
	transactions func(api.Transactions) api.Transactions
}

func newBench(t testing.TB, choose ...func(*setup)) *bench {
	t.Helper()
	s := setup{fs: vfs.NewMem(256 << 20), config: config.Config{
		Topics: config.Topics{AutoCreate: true, Partitions: 2},
		Fetch:  config.Fetch{MaxBytes: 50 << 20, SessionSlots: 4},
		Values: config.Values{},
	}}
	for _, c := range choose {
		c(&s)
	}
	b := &bench{t: t, fs: s.fs, catalog: catalog.New(), tripwires: &batch.Tripwires{}}
	b.conn = protocol.NewConn(protocol.ConnInfo{ID: "test", Listener: listenerName, Principal: protocol.Anonymous, Draining: s.draining})
	cluster, err := clusterdir.Open(context.Background(), s.fs, clusterdir.Options{Path: "__cluster"})
	must(t, err)
	b.volume, err = storage.OpenVolume(s.fs, storage.VolumeOptions{ClusterID: cluster.ClusterID(), ID: "default"})
	must(t, err)
	b.engine, err = storage.NewEngine(storage.Options{Tripwires: b.tripwires, RetentionInterval: -1})
	must(t, err)
	owned := ownership.Options{Engine: b.engine, Volume: b.volume, Catalog: b.catalog}
	if s.groups != nil {
		owned.Slots = b.slots(cluster)
	}
	b.partitions = ownership.New(owned)
	b.topics, err = metastore.Open(context.Background(), metastore.Options{
		Cluster: cluster, Volume: b.volume, Catalog: b.catalog, Abandon: b.partitions.Abandon,
		Resolve: func(overrides map[string]string) (topicconfig.Effective, error) {
			return topicconfig.Resolve(s.config.Values, overrides)
		},
	})
	must(t, err)
	ids := producerids.New(cluster)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = b.partitions.Run(ctx) })
	if s.groups != nil {
		s.groups.Source, s.groups.ProducerIDs, s.groups.Delivery = b.partitions, ids, delivery{b}
		coordinated := coordinator.New(*s.groups)
		running.Go(func() { _ = coordinated.Run(ctx) })
		b.groups, b.transactions = coordinated, coordinated
	}
	t.Cleanup(func() {
		cancel()
		running.Wait()
		_ = b.partitions.Shutdown(context.Background())
		must(t, errors.Join(b.engine.Close(), b.topics.Close(), cluster.Close()))
	})
	if s.transactions != nil {
		b.transactions = s.transactions(b.transactions)
	}
	var partitions api.Partitions = b.partitions
	if s.wrap != nil {
		partitions = s.wrap(&s, partitions)
	}
	handlers := api.New(api.Deps{
		Catalog: b.catalog, Partitions: partitions, Topics: b.topics, Groups: b.groups, Transactions: b.transactions, ProducerIDs: ids, Config: &s.config,
		Authorizer: s.authorizer, Tripwires: b.tripwires,
		Broker: api.Identity{ClusterID: cluster.ClusterID(), NodeID: nodeID, Rack: "zone-a", Advertised: func(listener string) (string, int32) {
			if listener != listenerName {
				t.Errorf("asked for the address of listener %q", listener)
			}
			return host, port
		}},
	})
	b.rows = map[int16]protocol.API{}
	for _, row := range handlers.Table() {
		b.rows[row.Key] = row
	}
	return b
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// topic makes a topic, with configuration given as pairs of name and value, and waits until it is served.
func (b *bench) topic(name string, partitions int32, pairs ...string) *catalog.Topic {
	b.t.Helper()
	overrides := map[string]string{}
	for i := 0; i+1 < len(pairs); i += 2 {
		overrides[pairs[i]] = pairs[i+1]
	}
	topic, err := b.topics.CreateTopic(context.Background(), metastore.NewTopic{Name: name, Partitions: partitions, Config: overrides})
	must(b.t, err)
	for index := range partitions {
		_, err := b.partitions.Await(context.Background(), topic, index)
		must(b.t, err)
	}
	return topic
}

func (b *bench) partition(topic *catalog.Topic, index int32) *storage.Partition {
	b.t.Helper()
	p, err := b.partitions.Await(context.Background(), topic, index)
	must(b.t, err)
	return p
}

// steal makes another owner take a partition over, as another process would. What fenced the broker's own partition ends with the test.
func (b *bench) steal(topic *catalog.Topic, index int32) *storage.Partition {
	b.t.Helper()
	dir, err := b.fs.OpenDir(fmt.Sprintf("%s/%s/%d", topic.Name, topic.ID, index))
	must(b.t, err)
	p, err := b.engine.Take(context.Background(), dir, storage.TakeOptions{Label: "thief", Volume: b.volume, Config: storage.DefaultConfig()})
	must(b.t, err)
	return p
}

// writeElsewhere lets another owner take a partition, append to it and hand it over. It returns the other's epoch.
func (b *bench) writeElsewhere(topic *catalog.Topic, index int32, records batch.Batch) storage.Epoch {
	b.t.Helper()
	thief := b.steal(topic, index)
	ticket, err := thief.Append(records, storage.AppendOptions{})
	must(b.t, err)
	must(b.t, ticket.WaitDurable(context.Background()))
	must(b.t, thief.Handover(context.Background()))
	return thief.Epoch()
}

// start passes a request through the wire format and begins it.
func (b *bench) start(ctx context.Context, request kmsg.Request) (codec.RequestHeader, protocol.FinishFunc) {
	b.t.Helper()
	header := codec.RequestHeader{Key: request.Key(), Version: request.GetVersion(), CorrelationID: 99}
	decoded, err := codec.DecodeRequest(header, request.AppendTo(nil))
	must(b.t, err)
	row, known := b.rows[header.Key]
	if !known {
		b.t.Fatalf("no handler for key %d", header.Key)
	}
	return header, row.Start(ctx, &protocol.Request{Header: header, Message: decoded, Conn: b.conn, Received: time.Now()})
}

// reply runs a request to its reply. The test's end releases what it holds.
func (b *bench) reply(request kmsg.Request) (codec.RequestHeader, protocol.Reply) {
	b.t.Helper()
	header, finish := b.start(context.Background(), request)
	reply, err := finish(context.Background())
	must(b.t, err)
	return header, reply
}

// ask runs a request and reads its answer back from the wire format.
func ask[R kmsg.Response](b *bench, request kmsg.Request) R {
	b.t.Helper()
	header, reply := b.reply(request)
	return read[R](b, header, request, reply)
}

func read[R kmsg.Response](b *bench, header codec.RequestHeader, request kmsg.Request, reply protocol.Reply) R {
	b.t.Helper()
	if reply.Message == nil {
		b.t.Fatalf("no answer to %T", request)
	}
	if reply.Message.GetVersion() != header.Version {
		b.t.Fatalf("answer of version %d to version %d", reply.Message.GetVersion(), header.Version)
	}
	wire := encode(b.t, header, reply)
	if size := binary.BigEndian.Uint32(wire); int(size) != len(wire)-4 {
		b.t.Fatalf("size prefix %d of %d bytes", size, len(wire)-4)
	}
	response := request.ResponseKind()
	skip := 8
	if response.IsFlexible() {
		skip = 9
	}
	must(b.t, response.ReadFrom(wire[skip:]))
	return response.(R)
}

// encode is what the protocol server does with a reply.
func encode(t testing.TB, header codec.RequestHeader, reply protocol.Reply) []byte {
	t.Helper()
	fetched, is := reply.Message.(*kmsg.FetchResponse)
	if !is {
		return codec.AppendResponse(nil, header, reply.Message)
	}
	section := func(topic, partition int) protocol.Section {
		if topic >= len(reply.Sections) || partition >= len(reply.Sections[topic]) {
			return nil
		}
		return reply.Sections[topic][partition]
	}
	envelope, cuts := codec.AppendFetchResponse(nil, header, fetched, func(topic, partition int) int {
		if s := section(topic, partition); s != nil {
			return int(s.Size())
		}
		return 0
	})
	var wire []byte
	at := 0
	for _, cut := range cuts {
		wire = append(wire, envelope[at:cut.At]...)
		at = cut.At
		s := section(cut.Topic, cut.Partition)
		data := make([]byte, s.Size())
		if _, err := s.ReadAt(data, 0); err != nil && !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		wire = append(wire, data...)
		s.Release()
	}
	return append(wire, envelope[at:]...)
}

// records builds a batch with these values, a second apart from timestamp 1000 on.
func records(t testing.TB, values ...string) batch.Batch {
	t.Helper()
	return build(t, func(*batch.Builder) {}, values...)
}

func build(t testing.TB, adjust func(*batch.Builder), values ...string) batch.Batch {
	t.Helper()
	builder := batch.NewBuilder()
	adjust(builder)
	for i, value := range values {
		builder.Add(int64(1000+1000*i), []byte("key"), []byte(value))
	}
	b, err := builder.Build()
	must(t, err)
	return b
}

// produceRequest is one of a single batch.
func produceRequest(version, acks int16, topic string, partition int32, data []byte) *kmsg.ProduceRequest {
	request := kmsg.NewPtrProduceRequest()
	request.Version, request.Acks, request.TimeoutMillis = version, acks, 10_000
	request.Topics = []kmsg.ProduceRequestTopic{{Topic: topic, Partitions: []kmsg.ProduceRequestTopicPartition{{Partition: partition, Records: data}}}}
	return request
}

// produce appends a batch and returns its row.
func (b *bench) produce(topic string, partition int32, data []byte) kmsg.ProduceResponseTopicPartition {
	b.t.Helper()
	return ask[*kmsg.ProduceResponse](b, produceRequest(10, -1, topic, partition, data)).Topics[0].Partitions[0]
}

// write appends values that must be accepted.
func (b *bench) write(topic string, partition int32, values ...string) {
	b.t.Helper()
	if row := b.produce(topic, partition, records(b.t, values...)); row.ErrorCode != 0 {
		b.t.Fatalf("produce: error %d", row.ErrorCode)
	}
}

// fetchRequest is one of a single partition, without a session and without waiting.
func fetchRequest(version int16, topic *catalog.Topic, partition int32, offset int64) *kmsg.FetchRequest {
	request := kmsg.NewPtrFetchRequest()
	request.Version, request.MinBytes, request.MaxBytes, request.SessionEpoch = version, 1, 1<<20, -1
	wanted := kmsg.NewFetchRequestTopicPartition()
	wanted.Partition, wanted.FetchOffset, wanted.PartitionMaxBytes = partition, offset, 1<<20
	request.Topics = []kmsg.FetchRequestTopic{{Topic: topic.Name, TopicID: topic.ID, Partitions: []kmsg.FetchRequestTopicPartition{wanted}}}
	return request
}

func (b *bench) fetch(request *kmsg.FetchRequest) *kmsg.FetchResponse {
	b.t.Helper()
	return ask[*kmsg.FetchResponse](b, request)
}

// values are what a record set holds, as far as its batches are whole.
func values(t testing.TB, set []byte) []string {
	t.Helper()
	var all []string
	for len(set) > 0 {
		b, rest, err := batch.Next(set)
		if errors.Is(err, batch.ErrTruncated) {
			break
		}
		must(t, err)
		for record, err := range b.Records(nil, batch.SiteTool, 0) {
			must(t, err)
			all = append(all, string(record.Value))
		}
		set = rest
	}
	return all
}

// decodes are the sites that the tripwires have counted.
func (b *bench) decodes() map[batch.Site]batch.Counts {
	counts := b.tripwires.Snapshot()
	maps.DeleteFunc(counts, func(_ batch.Site, c batch.Counts) bool { return c == batch.Counts{} })
	return counts
}
