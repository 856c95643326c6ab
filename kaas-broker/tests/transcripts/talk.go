package transcripts

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

// clientID is the client id of every request that does not choose another.
const clientID = "transcripts"

// What a broker did instead of answering.
const (
	closed   = "closed"
	noAnswer = "no answer"
	noFrame  = "another protocol"
)

// Exchange is one request and what came of it.
type Exchange struct {
	// Name says what the request is about; with API and Version it names the exchange within a script.
	Name    string
	API     string
	Version int16
	// Answer is empty when Lines hold a response; else closed, noAnswer or noFrame.
	Answer string
	Lines  []Line
}

// Title names the exchange.
func (e Exchange) Title() string { return fmt.Sprintf("%s · %s v%d", e.Name, e.API, e.Version) }

// Talk is a conversation with one broker, as a script leads it. It fails its test when the broker cannot be reached.
type Talk struct {
	test       testing.TB
	address    string
	connection *connection
	exchanges  []Exchange
	titles     map[string]bool
	masks      masks
	restart    func()
}

func newTalk(t testing.TB, address string) *Talk {
	return &Talk{test: t, address: address, titles: map[string]bool{}, masks: newMasks()}
}

// Ask sends a request at a version and records the answer, nil when there is none. Masks are patterns of paths: the lines that match are counted
// instead of recorded.
func (t *Talk) Ask(name string, version int16, request kmsg.Request, masks ...string) kmsg.Response {
	t.test.Helper()
	request.SetVersion(version)
	began := time.Now()
	response, body, err := t.roundTrip(request)
	exchange := t.exchange(name, request.Key(), version)
	if exchange.Answer = answerOf(err); err == nil {
		exchange.Lines = counted(t.masks.linesOf(response, body), masks)
		exchange.Lines[0].Fields = append(exchange.Lines[0].Fields, waited(request, time.Since(began))...)
	}
	t.exchanges = append(t.exchanges, exchange)
	return response
}

// AskEach is Ask at each of the versions.
func (t *Talk) AskEach(name string, from, to int16, request kmsg.Request, masks ...string) {
	t.test.Helper()
	for version := from; version <= to; version++ {
		t.Ask(name, version, request, masks...)
	}
}

// AskUnanswered sends a request that a broker may leave unanswered, and then another one, whose answer tells.
func (t *Talk) AskUnanswered(name string, version int16, request kmsg.Request) {
	t.test.Helper()
	request.SetVersion(version)
	c := t.open()
	frame := c.frameOf(request, new(clientID))
	probe := kmsg.NewPtrApiVersionsRequest()
	_ = c.send(append(frame, c.frameOf(probe, new(clientID))...))
	exchange := t.exchange(name, request.Key(), version)
	received, err := c.receive(answerTimeout)
	switch correlation, _, broken := bodyOf(received, keyAPIVersions, false); {
	case err != nil:
		exchange.Answer = answerOf(err)
	case broken == nil && correlation == c.correlation:
		exchange.Answer = noAnswer
	default:
		exchange.Answer = "an answer"
	}
	t.exchanges = append(t.exchanges, exchange)
	t.Hangup()
}

// Frame sends bytes as they are on a connection of their own and records the answer, decoded as the response of a key and version.
func (t *Talk) Frame(name string, key, version int16, bytes []byte, masks ...string) {
	t.test.Helper()
	t.frame(name, key, version, version, bytes, masks)
}

func (t *Talk) frame(name string, key, version, decodeAs int16, bytes []byte, masks []string) {
	t.test.Helper()
	t.Hangup()
	defer t.Hangup()
	c := t.open()
	_ = c.send(bytes) // a broker that has closed already is told by the read
	received, err := c.receive(answerTimeout)
	exchange := t.exchange(name, key, version)
	if exchange.Answer = answerOf(err); err == nil {
		response := kmsg.ResponseForKey(key)
		response.SetVersion(decodeAs)
		_, body, err := bodyOf(received, key, response.IsFlexible())
		if err == nil {
			err = response.ReadFrom(body)
		}
		if err != nil {
			t.test.Fatalf("%s: %v: %x", exchange.Title(), err, received)
		}
		exchange.Lines = counted(t.masks.linesOf(response, body), masks)
	}
	t.exchanges = append(t.exchanges, exchange)
}

// Prepare sends a request that is not recorded, and fails the test when nothing comes back.
func (t *Talk) Prepare(version int16, request kmsg.Request) kmsg.Response {
	t.test.Helper()
	request.SetVersion(version)
	response, _, err := t.roundTrip(request)
	if err != nil {
		t.test.Fatalf("prepare with %s v%d: %v", kmsg.NameForKey(request.Key()), version, err)
	}
	return response
}

// Topic makes a topic, waits until it can be used, and remembers its id and leader epoch for masking. Settings are key=value.
func (t *Talk) Topic(name string, partitions int32, settings ...string) [16]byte {
	t.test.Helper()
	topic := newTopic(name, partitions, 1)
	for _, setting := range settings {
		key, value, _ := strings.Cut(setting, "=")
		topic.Configs = append(topic.Configs, kmsg.CreateTopicsRequestTopicConfig{Name: key, Value: &value})
	}
	response := t.Prepare(4, createTopics(topic)).(*kmsg.CreateTopicsResponse)
	if code := response.Topics[0].ErrorCode; code != 0 {
		t.test.Fatalf("create topic %s: %v", name, kerr.ErrorForCode(code))
	}
	harness.Settle()
	return t.Learn(name)
}

// Learn remembers the id and the leader epoch of a topic for masking, and returns the id.
func (t *Talk) Learn(name string) [16]byte {
	t.test.Helper()
	for range 100 {
		request := kmsg.NewPtrMetadataRequest()
		request.Topics = []kmsg.MetadataRequestTopic{{Topic: &name}}
		topic := t.Prepare(12, request).(*kmsg.MetadataResponse).Topics[0]
		led := topic.ErrorCode == 0
		for _, partition := range topic.Partitions {
			led = led && partition.ErrorCode == 0
		}
		if led && t.served(name, len(topic.Partitions)) {
			t.masks.learn(topic.TopicID, name, topic.Partitions[0].LeaderEpoch)
			return topic.TopicID
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.test.Fatalf("topic %s has no leader", name)
	return [16]byte{}
}

// served reports whether the broker leads all partitions of a topic: Apache Kafka tells so in Metadata a moment before it is true.
func (t *Talk) served(name string, partitions int) bool {
	t.test.Helper()
	request := listOffsets(name, -1)
	for i := 1; i < partitions; i++ {
		request.Topics[0].Partitions = append(request.Topics[0].Partitions, listOffsetsOf(name, int32(i), -1).Topics[0].Partitions...)
	}
	for _, partition := range t.Prepare(7, request).(*kmsg.ListOffsetsResponse).Topics[0].Partitions {
		if partition.ErrorCode != 0 {
			return false
		}
	}
	return true
}

// Epoch is the leader epoch that Learn has found.
func (t *Talk) Epoch(topic string) int32 { return t.masks.epochs[topic] }

// Restart stops the broker as a service manager does and starts it again on its data. Only scripts with a broker of their own may.
func (t *Talk) Restart() {
	t.Hangup()
	t.restart()
}

// Settle waits for what Apache Kafka does after it has answered.
func (t *Talk) Settle() { harness.Settle() }

// Hangup closes the connection; the next request opens another.
func (t *Talk) Hangup() {
	if t.connection != nil {
		t.connection.close()
		t.connection = nil
	}
}

func (t *Talk) open() *connection {
	t.test.Helper()
	if t.connection == nil {
		c, err := dial(t.address)
		if err != nil {
			t.test.Fatal(err)
		}
		t.connection = c
	}
	return t.connection
}

// roundTrip returns the response and the bytes of its body. After an error the connection is gone.
func (t *Talk) roundTrip(request kmsg.Request) (kmsg.Response, []byte, error) {
	t.test.Helper()
	c := t.open()
	_ = c.send(c.frameOf(request, new(clientID))) // a broker that has closed already is told by the read
	return t.answerTo(request)
}

// answerTo receives the answer to a request that was sent.
func (t *Talk) answerTo(request kmsg.Request) (kmsg.Response, []byte, error) {
	t.test.Helper()
	c := t.connection
	frame, err := c.receive(answerTimeout)
	if err != nil {
		t.Hangup()
		return nil, nil, err
	}
	response := request.ResponseKind()
	correlation, body, err := bodyOf(frame, request.Key(), response.IsFlexible())
	if err == nil {
		err = response.ReadFrom(body)
	}
	if err != nil || correlation != c.correlation {
		t.test.Fatalf("%s v%d: correlation id %d instead of %d, %v: %x", kmsg.NameForKey(request.Key()), request.GetVersion(), correlation, c.correlation, err, frame)
	}
	return response, body, nil
}

func (t *Talk) exchange(name string, key, version int16) Exchange {
	t.test.Helper()
	e := Exchange{Name: name, API: kmsg.NameForKey(key), Version: version}
	if t.titles[e.Title()] {
		t.test.Fatalf("two exchanges are named %q", e.Title())
	}
	t.titles[e.Title()] = true
	return e
}

func answerOf(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, errSilent):
		return noAnswer
	case errors.Is(err, errOther):
		return noFrame
	default:
		return closed
	}
}

// leastWait is the smallest wait of a fetch that is long enough to be told from a slow machine.
const leastWait = 700 * time.Millisecond

// waited says whether a fetch that asked the broker to wait was held.
func waited(request kmsg.Request, took time.Duration) []Field {
	fetch, is := request.(*kmsg.FetchRequest)
	if !is {
		return nil
	}
	asked := time.Duration(fetch.MaxWaitMillis) * time.Millisecond
	if asked < leastWait {
		return nil
	}
	return []Field{{Name: "waited", Value: strconv.FormatBool(took >= asked*9/10)}}
}
