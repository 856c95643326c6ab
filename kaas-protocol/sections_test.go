package protocol_test

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-protocol"
)

// fetchAnswer is a Fetch response of one topic with as many partitions as there are sections.
func fetchAnswer(sections ...protocol.Section) protocol.Reply {
	response := kmsg.NewPtrFetchResponse()
	response.Version = 12
	topic := kmsg.NewFetchResponseTopic()
	topic.Topic = "t"
	for i := range sections {
		partition := kmsg.NewFetchResponseTopicPartition()
		partition.Partition = int32(i)
		topic.Partitions = append(topic.Partitions, partition)
	}
	response.Topics = append(response.Topics, topic)
	return protocol.Reply{Message: response, Sections: [][]protocol.Section{sections}}
}

func random(n int) []byte {
	p := make([]byte, n)
	source := rand.NewChaCha8([32]byte{byte(n)})
	_, _ = source.Read(p)
	return p
}

func TestSectionsOnTheWire(t *testing.T) {
	sizes := map[string][]int{
		"none":                    {0},
		"one byte":                {1},
		"many small":              {10, 0, 2000, 1, 30_000, 500},
		"large":                   {5_000_000},
		"large between small":     {10, 1_000_000, 20, 70_000, 0},
		"at the copying bound":    {32 << 10, 32<<10 + 1},
		"fills the staging area":  {30_000, 30_000, 30_000, 30_000, 30_000, 30_000},
		"larger than the staging": {200_000, 10, 200_000},
	}
	certificate := newAuthority(t).issue(t, "broker")
	listeners := []protocol.Listener{
		{Name: "PLAINTEXT", Address: "127.0.0.1:0"},
		{Name: "SSL", Address: "127.0.0.1:0", TLS: certificate.write(t, t.TempDir())},
	}
	kinds := map[string]func(testing.TB, []byte) *section{
		"file":   fileSection,
		"memory": func(_ testing.TB, p []byte) *section { return memorySection(p) },
	}
	fetches := newParked()
	server := serve(t, protocol.Config{Listeners: listeners, APIs: []protocol.API{fetches.api()}})
	for name, lengths := range sizes {
		for kind, build := range kinds {
			for _, transport := range []string{"PLAINTEXT", "SSL"} {
				t.Run(name+"/"+kind+"/"+transport, func(t *testing.T) {
					client := dial(t, server)
					if transport == "SSL" {
						client = dialTLS(t, server, nil)
					}
					var want [][]byte
					var sections []protocol.Section
					for _, n := range lengths {
						p := random(n)
						want, sections = append(want, p), append(sections, build(t, p))
					}
					for range 2 {
						fetches.let <- fetchAnswer(sections...)
						response := call[*kmsg.FetchResponse](client, fetchRequest())
						for i, partition := range response.Topics[0].Partitions {
							if !bytes.Equal(partition.RecordBatches, want[i]) {
								t.Fatalf("partition %d: %d bytes differ from the %d of its section", i, len(partition.RecordBatches), len(want[i]))
							}
						}
					}
					for i, s := range sections {
						within(t, "release", released(s.(*section), 2))
						if got := s.(*section).released.Load(); got != 2 {
							t.Errorf("section %d released %d times in two responses", i, got)
						}
					}
				})
			}
		}
	}
}

// released is closed when a section has been given back often enough.
func released(s *section, times int64) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for deadline := time.Now().Add(patience); s.released.Load() < times && time.Now().Before(deadline); {
			time.Sleep(time.Millisecond)
		}
	}()
	return done
}

func TestFewerSectionsThanPartitions(t *testing.T) {
	fetches := newParked()
	client := dial(t, serve(t, protocol.Config{APIs: []protocol.API{fetches.api()}}))
	reply := fetchAnswer(nil, memorySection([]byte("records")), nil)
	reply.Sections[0] = reply.Sections[0][:2]
	fetches.let <- reply
	got := call[*kmsg.FetchResponse](client, fetchRequest()).Topics[0].Partitions
	if len(got[0].RecordBatches) != 0 || string(got[1].RecordBatches) != "records" || len(got[2].RecordBatches) != 0 {
		t.Fatalf("records %v", got)
	}
}

func TestEnvelopeLargerThanTheStagingArea(t *testing.T) {
	fetches := newParked()
	client := dial(t, serve(t, protocol.Config{APIs: []protocol.API{fetches.api()}}))
	sections := make([]protocol.Section, 10_000)
	want := random(100_000)
	sections[9_000] = fileSection(t, want)
	fetches.let <- fetchAnswer(sections...)
	got := call[*kmsg.FetchResponse](client, fetchRequest()).Topics[0].Partitions
	if len(got) != len(sections) || !bytes.Equal(got[9_000].RecordBatches, want) || len(got[9_001].RecordBatches) != 0 {
		t.Errorf("%d partitions, %d bytes in the one with records", len(got), len(got[9_000].RecordBatches))
	}
}

func TestSectionsAreReleasedWhen(t *testing.T) {
	huge := func(t *testing.T) *section { return fileSection(t, random(20_000_000)) }
	short := func(t *testing.T) *section {
		s := fileSection(t, random(1000))
		s.size = 100_000
		return s
	}
	cases := map[string]struct {
		section func(t *testing.T) *section
		client  func(c *client)
		close   bool
	}{
		"a file is shorter than its section":   {section: short, client: func(*client) {}},
		"a small section is short":             {section: func(t *testing.T) *section { s := short(t); s.size = 2000; return s }, client: func(*client) {}},
		"a section panics":                     {section: func(*testing.T) *section { return &section{size: 10, panics: true} }, client: func(*client) {}},
		"the client leaves while it is sent":   {section: huge, client: func(c *client) { c.conn.Close() }},
		"the client does not read":             {section: huge, client: func(*client) { time.Sleep(500 * time.Millisecond) }},
		"the server closes while it is sent":   {section: huge, client: func(*client) {}, close: true},
		"the response does not fit in a frame": {section: func(*testing.T) *section { return &section{size: 1 << 31, bytes: nil} }, client: func(*client) {}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			fetches := newParked()
			server := serve(t, protocol.Config{APIs: []protocol.API{fetches.api()}, Limits: protocol.Limits{SendTimeout: 200 * time.Millisecond}})
			client := dial(t, server)
			s, beside := c.section(t), memorySection([]byte("beside"))
			client.send(fetchRequest())
			within(t, "start", fetches.started)
			fetches.let <- fetchAnswer(s, beside)
			within(t, "answer", fetches.answered) // what ends the connection before would keep it from being taken
			c.client(client)
			if c.close {
				server.Close()
			}
			within(t, "release", released(s, 1))
			within(t, "release", released(beside, 1))
			server.Close()
			if s.released.Load() != 1 || beside.released.Load() != 1 {
				t.Errorf("released %d and %d times, want once", s.released.Load(), beside.released.Load())
			}
			if _, _, err := client.tryReceive(); err == nil {
				t.Error("the client read a whole response")
			}
		})
	}
}

func TestRepliesOfAnEndedConnectionAreReleased(t *testing.T) {
	s := memorySection([]byte("late"))
	start, finished := make(chan struct{}), make(chan struct{})
	slow := replying(func(*protocol.Request) (protocol.Reply, error) {
		close(start)
		<-finished
		return fetchAnswer(s), nil
	})
	server := serve(t, protocol.Config{APIs: []protocol.API{slow}})
	client := dial(t, server)
	client.send(metadataRequest())
	<-start
	client.conn.Close()
	go server.Close()
	close(finished)
	within(t, "release", released(s, 1))
}
