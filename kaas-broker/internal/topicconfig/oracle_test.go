package topicconfig_test

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// What the tables are compared with was recorded from a Kafka broker. This test asks a running one again, where there
// is one to be started: KAAS_SHARED names the directory whose kafka/start.sh starts it.
func TestRecordingsAreKafkas(t *testing.T) {
	conn := startKafka(t)
	createTopic(t, conn, "compared")
	t.Run("topic", func(t *testing.T) {
		want := recordedDefaults(t, "testdata/kafka-3.7.2-topic.json")
		compareRecording(t, describeConfigs(t, conn, kmsg.ConfigResourceTypeTopic, "compared"), want)
	})
	t.Run("broker", func(t *testing.T) {
		want := recordedDefaults(t, "../../config/testdata/kafka-3.7.2-broker.json")
		compareRecording(t, describeConfigs(t, conn, kmsg.ConfigResourceTypeBroker, "0"), want)
	})
	t.Run("values", func(t *testing.T) { compareValues(t, conn) })
}

type defaultRow struct {
	Name, Type string
	Default    *string
}

func (r defaultRow) String() string {
	if r.Default == nil {
		return r.Name + " " + r.Type + " null"
	}
	return fmt.Sprintf("%s %s %q", r.Name, r.Type, *r.Default)
}

func recordedDefaults(t *testing.T, path string) []defaultRow {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var rows []defaultRow
	if err := json.Unmarshal(data, &rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

func compareRecording(t *testing.T, got, want []defaultRow) {
	t.Helper()
	slices.SortFunc(got, func(a, b defaultRow) int { return cmp.Compare(a.Name, b.Name) })
	if len(got) != len(want) {
		t.Fatalf("%d keys, recorded %d", len(got), len(want))
	}
	for i := range got {
		if got[i].String() != want[i].String() {
			t.Errorf("Kafka says %s, recorded %s", got[i], want[i])
		}
	}
}

func startKafka(t *testing.T) net.Conn {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a Kafka broker, which -short leaves out")
	}
	shared := os.Getenv("KAAS_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "..", "..", "shared")
	}
	start := filepath.Join(shared, "kafka", "start.sh")
	if _, err := os.Stat(start); err != nil {
		t.Skipf("no Kafka to compare with: %v (KAAS_SHARED names the directory that holds kafka/start.sh)", err)
	}
	if _, err := exec.LookPath("java"); err != nil {
		t.Skip("no Kafka to compare with: java is not installed")
	}
	home, _ := os.UserHomeDir()
	if _, err := os.Stat(cmp.Or(os.Getenv("KAFKA_HOME"), filepath.Join(home, ".cache", "kaas-kafka", "3.7.2"))); err != nil {
		t.Skip("no Kafka to compare with: run kafka/fetch.sh first")
	}
	directory, port := t.TempDir(), freePorts(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, start, directory, strconv.Itoa(port))
	command.Env = append(os.Environ(), "KAFKA_HEAP=256m")
	t.Cleanup(func() {
		if output, err := exec.Command(filepath.Join(shared, "kafka", "stop.sh"), directory, "KILL").CombinedOutput(); err != nil {
			t.Logf("stop Kafka: %v %s", err, output)
		}
	})
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("start Kafka: %v\n%s", err, output)
	}
	conn, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// freePorts finds a port that is free together with the one 10,000 above, which the controller takes. Both lie below those that the system gives to
// whoever asks for any: until Kafka has them, seconds later, another test's listener or connection could get them.
func freePorts(t *testing.T) int {
	t.Helper()
	for port := 21000 + os.Getpid()%1000; port < 22700; port++ {
		low, errLow := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		high, errHigh := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port+10000))
		if errLow == nil {
			_ = low.Close()
		}
		if errHigh == nil {
			_ = high.Close()
		}
		if errLow == nil && errHigh == nil {
			return port
		}
	}
	t.Fatal("no free port")
	return 0
}

func createTopic(t *testing.T, conn net.Conn, name string) {
	t.Helper()
	request := kmsg.NewPtrCreateTopicsRequest()
	request.Version = 7
	request.TimeoutMillis = 30000
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, 1, 1
	request.Topics = append(request.Topics, topic)
	response := kmsg.NewPtrCreateTopicsResponse()
	ask(t, conn, request, response)
	if code := response.Topics[0].ErrorCode; code != 0 {
		t.Fatalf("create topic: error %d", code)
	}
}

func describeConfigs(t *testing.T, conn net.Conn, kind kmsg.ConfigResourceType, name string) []defaultRow {
	t.Helper()
	request := kmsg.NewPtrDescribeConfigsRequest()
	request.Version = 4
	request.IncludeSynonyms = true
	resource := kmsg.NewDescribeConfigsRequestResource()
	resource.ResourceType, resource.ResourceName = kind, name
	request.Resources = append(request.Resources, resource)
	response := kmsg.NewPtrDescribeConfigsResponse()
	ask(t, conn, request, response)
	// Kafka answers CreateTopics when its controller has the topic. Its broker follows a moment later, on a busy machine after several.
	for deadline := time.Now().Add(time.Minute); response.Resources[0].ErrorCode == kerr.UnknownTopicOrPartition.Code && time.Now().Before(deadline); {
		time.Sleep(100 * time.Millisecond)
		ask(t, conn, request, response)
	}
	if code := response.Resources[0].ErrorCode; code != 0 {
		t.Fatalf("describe configs: error %d", code)
	}
	var rows []defaultRow
	for _, entry := range response.Resources[0].Configs {
		rows = append(rows, defaultRow{entry.Name, entry.ConfigType.String(), defaultOf(entry)})
	}
	return rows
}

// defaultOf finds the default below what the started broker was told.
func defaultOf(entry kmsg.DescribeConfigsResponseResourceConfig) *string {
	if entry.Source == kmsg.ConfigSourceDefaultConfig {
		return entry.Value
	}
	for _, synonym := range entry.ConfigSynonyms {
		if synonym.Name == entry.Name && synonym.Source == kmsg.ConfigSourceDefaultConfig {
			return synonym.Value
		}
	}
	return nil
}

// ask sends one request of a flexible version and reads its response.
func ask(t *testing.T, conn net.Conn, request kmsg.Request, response kmsg.Response) {
	t.Helper()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	if _, err := conn.Write(kmsg.NewRequestFormatter().AppendRequest(nil, request, 1)); err != nil {
		t.Fatal(err)
	}
	var size [4]byte
	if _, err := io.ReadFull(conn, size[:]); err != nil {
		t.Fatal(err)
	}
	frame := make([]byte, binary.BigEndian.Uint32(size[:]))
	if _, err := io.ReadFull(conn, frame); err != nil {
		t.Fatal(err)
	}
	response.SetVersion(request.GetVersion())
	// The header is the correlation id and an empty list of tags.
	if err := response.ReadFrom(frame[5:]); err != nil {
		t.Fatal(err)
	}
}
