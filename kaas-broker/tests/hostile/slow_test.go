package hostile

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

// Bytes of other protocols, and what is left of connections that were never finished, hold nothing.
func TestHalfOpenAndForeignClients(t *testing.T) {
	broker := start(t, harness.Options{Mode: harness.Dev})
	watch(t, broker, 150*mib)
	runBeside(t, broker.Bootstrap())
	whole := encode(metadataRequest("beside"), 1)
	for name, sent := range map[string]string{
		"nothing":           "",
		"HTTP":              "GET / HTTP/1.1\r\nHost: kafka\r\n\r\n",
		"HTTP/2":            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"TLS":               "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
		"SSH":               "SSH-2.0-OpenSSH_9.9\r\n",
		"half a size":       string(whole[:2]),
		"a size":            string(whole[:4]),
		"half a request":    string(whole[:len(whole)/2]),
		"all but one byte":  string(whole[:len(whole)-1]),
		"one and a half":    string(whole) + string(whole[:len(whole)/2]),
		"requests in a row": string(whole) + string(whole) + string(whole),
	} {
		for range pick(20, 200) {
			gone, finished := dial(t, broker.Bootstrap()), dial(t, broker.Bootstrap())
			if _, err := gone.Write([]byte(sent)); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			_ = gone.Close()
			_, _ = finished.Write([]byte(sent))
			_ = finished.CloseWrite()
			closedWithin(t, finished, 10*time.Second)
		}
	}
}

func metadataRequest(topics ...string) *kmsg.MetadataRequest {
	request := kmsg.NewPtrMetadataRequest()
	request.Version = 9
	for _, topic := range topics {
		wanted := kmsg.NewMetadataRequestTopic()
		wanted.Topic = &topic
		request.Topics = append(request.Topics, wanted)
	}
	return request
}

// One byte now and then is a client like any other, however many there are, and is served in the end.
func TestOneByteNowAndThen(t *testing.T) {
	broker := start(t, harness.Options{Mode: harness.Dev})
	watch(t, broker, 150*mib)
	runBeside(t, broker.Bootstrap())
	message := encode(metadataRequest(), 7)
	together(t, pick(200, 1000), func(int) error {
		connection, err := connect(broker.Bootstrap())
		if err != nil {
			return err
		}
		defer connection.Close()
		for i := range message {
			if _, err := connection.Write(message[i : i+1]); err != nil {
				return fmt.Errorf("byte %d: %w", i, err)
			}
			time.Sleep(100 * time.Millisecond)
		}
		answer, err := connection.receive(10 * time.Second)
		if err == nil && binary.BigEndian.Uint32(answer) != 7 {
			err = fmt.Errorf("answer %x", answer)
		}
		return err
	})
}

// Clients that ask for much and never read hold what fits their sockets; they are closed when they have read nothing for a minute at most.
func TestClientsThatNeverRead(t *testing.T) {
	broker := start(t, harness.Options{Mode: harness.Dev, Overrides: map[string]string{"kaas.memory.max.bytes": "200000000"}})
	createTopic(t, broker.Bootstrap(), "much", 1)
	createTopic(t, broker.Bootstrap(), "wide", 2000)
	fillTopic(t, broker.Bootstrap(), "much", 40)
	w := watch(t, broker, 600*mib)
	runBeside(t, broker.Bootstrap())
	clients := int64(pick(100, 500))
	for number := range clients {
		connection := dial(t, broker.Bootstrap())
		_ = connection.SetReadBuffer(4 << 10)
		for range 200 {
			var request kmsg.Request = fetchRequest(11, "much", 0)
			if number%2 == 0 {
				request = metadataRequest("wide")
			}
			_ = connection.SetWriteDeadline(time.Now().Add(10 * time.Millisecond))
			if connection.send(request) != nil {
				break
			}
		}
	}
	time.Sleep(3 * time.Second)
	if held := broker.Usage(t).Descriptors - w.before.Descriptors; int64(held) < clients {
		t.Errorf("%d descriptors more for %d clients: they are not what this test is about", held, clients)
	}
	if !full() {
		return
	}
	time.Sleep(60 * time.Second)
	if leaks := w.leaks(broker.Usage(t)); leaks != "" {
		t.Errorf("nobody has read for a minute, and the broker still has %s", leaks)
	}
}

// fillTopic writes records of about a megabyte.
func fillTopic(t *testing.T, address, topic string, megabytes int) {
	t.Helper()
	made := bomb(t, 0, 1000_000, 1)
	connection := dial(t, address)
	defer connection.Close()
	for range megabytes {
		response, err := connection.call(produceRequest(8, topic, 1, made), 30*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if code := response.(*kmsg.ProduceResponse).Topics[0].Partitions[0].ErrorCode; code != 0 {
			t.Fatalf("produce: error %d", code)
		}
	}
}

// A client that pipelines thousands of requests gets thousands of answers, in order.
func TestThousandsOfPipelinedRequests(t *testing.T) {
	broker := start(t, harness.Options{}) // on disk: its records are no memory
	createTopic(t, broker.Bootstrap(), "pipelined", 1)
	watch(t, broker, 200*mib)
	runBeside(t, broker.Bootstrap())
	made := bomb(t, 0, 1000, 1)
	requests := pick(2000, 20_000)
	together(t, 4, func(int) error {
		connection, err := connect(broker.Bootstrap())
		if err != nil {
			return err
		}
		defer connection.Close()
		go func() {
			for number := range requests {
				var request kmsg.Request = produceRequest(8, "pipelined", -1, made)
				switch number % 10 {
				case 3:
					request = fetchRequest(11, "pipelined", int64(number))
				case 7:
					request = metadataRequest("pipelined")
				}
				if connection.send(request) != nil {
					return
				}
			}
		}()
		for number := range requests {
			answer, err := connection.receive(30 * time.Second)
			if err != nil {
				return fmt.Errorf("answer %d: %w", number, err)
			}
			if got := binary.BigEndian.Uint32(answer); got != uint32(number+1) {
				return fmt.Errorf("answer %d is to request %d", number+1, got)
			}
		}
		return nil
	})
}

// Clients that leave in the middle of everything.
func TestClientsThatVanish(t *testing.T) {
	broker := start(t, harness.Options{}) // on disk: its records are no memory
	createTopic(t, broker.Bootstrap(), "vanished", 4)
	fillTopic(t, broker.Bootstrap(), "vanished", 10)
	watch(t, broker, 150*mib)
	runBeside(t, broker.Bootstrap())
	made := bomb(t, 0, 900_000, 1)
	parked := fetchRequest(11, "vanished", 10)
	parked.MaxWaitMillis, parked.MinBytes = 600_000, 1<<30
	produce := encode(produceRequest(8, "vanished", -1, made), 1)
	requests := [][]byte{
		produce, produce[:len(produce)/2], encode(parked, 2), encode(fetchRequest(11, "vanished", 0), 3), encode(metadataRequest("vanished"), 4),
		append(encode(parked, 5), produce...),
	}
	together(t, 8, func(number int) error {
		for i := range pick(60, 600) {
			connection, err := connect(broker.Bootstrap())
			if err != nil {
				return err
			}
			_ = connection.SetWriteDeadline(time.Now().Add(time.Second))
			_, _ = connection.Write(requests[(number+i)%len(requests)])
			time.Sleep(time.Duration(i%5) * time.Millisecond)
			if i%2 == 0 {
				_ = connection.SetLinger(-1)
			}
			connection.Close()
		}
		return nil
	})
}
