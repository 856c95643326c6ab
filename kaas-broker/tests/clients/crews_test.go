package clients

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

// The group members of the other clients, as TestJavaGroupUnderChurn has them.
func TestGroupsUnderChurn(t *testing.T) {
	broker := harness.Start(t, harness.Options{Overrides: inChurn})
	for _, tested := range []struct {
		name string
		crew func(c *churn) crew
	}{
		{"franz-go range", func(c *churn) crew { return newFranzCrew(c, kgo.RangeBalancer()) }},
		{"franz-go cooperative-sticky", func(c *churn) crew { return newFranzCrew(c, kgo.CooperativeStickyBalancer()) }},
		{"sarama", newSaramaCrew},
		{"kcat", newKcatCrew},
		{"kafkajs", newKafkaJSCrew},
	} {
		t.Run(tested.name, func(t *testing.T) {
			c := newChurn(t, broker)
			c.crew = tested.crew(c)
			c.run(harness.Rounds(5, 40), true)
			for _, name := range c.present {
				c.crew.end(name)
			}
		})
	}
}

// line is the network of one member, which can be cut so that nothing that it says arrives any more.
type line struct {
	mutex       sync.Mutex
	cut         bool
	connections []net.Conn
}

func (l *line) dial(ctx context.Context, network, address string) (net.Conn, error) {
	connection, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.cut {
		_ = connection.Close()
		return nil, errors.New("the line is cut")
	}
	l.connections = append(l.connections, connection)
	return connection, nil
}

// Dial is for sarama.
func (l *line) Dial(network, address string) (net.Conn, error) {
	return l.dial(context.Background(), network, address)
}

func (l *line) sever() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.cut = true
	for _, connection := range l.connections {
		_ = connection.Close()
	}
}

// memberRun is one member that runs in this process.
type memberRun struct {
	line   line
	silent bool
	cancel context.CancelFunc
	ended  chan struct{}
}

// insideCrew are members that run in this process, each in a goroutine of its own.
type insideCrew struct {
	t       *testing.T
	members map[string]*memberRun
	run     func(ctx context.Context, name string, m *memberRun)
}

func newInsideCrew(t *testing.T, run func(ctx context.Context, name string, m *memberRun)) *insideCrew {
	c := &insideCrew{t: t, members: map[string]*memberRun{}, run: run}
	t.Cleanup(func() {
		for _, m := range c.members {
			m.cancel()
			<-m.ended
		}
	})
	return c
}

func (c *insideCrew) join(name string, silent bool) {
	ctx, cancel := context.WithCancel(context.Background())
	m := &memberRun{silent: silent, cancel: cancel, ended: make(chan struct{})}
	c.members[name] = m
	go func() {
		defer close(m.ended)
		c.run(ctx, name, m)
	}()
}

func (c *insideCrew) end(name string) {
	m := c.members[name]
	if m.silent {
		m.line.sever()
	}
	m.cancel()
}

func newFranzCrew(c *churn, balancer kgo.GroupBalancer) crew {
	return newInsideCrew(c.t, func(ctx context.Context, name string, m *memberRun) {
		options := impatient(c.topic, kgo.SeedBrokers(c.broker.Bootstrap()), kgo.Dialer(m.line.dial), kgo.ConsumerGroup(c.group), kgo.ConsumeTopics(c.topic),
			kgo.Balancers(balancer), kgo.DisableAutoCommit(), kgo.BlockRebalanceOnPoll(), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.ClientID(name),
			kgo.SessionTimeout(churnSession), kgo.HeartbeatInterval(300*time.Millisecond), kgo.FetchMaxWait(100*time.Millisecond), kgo.RetryTimeout(2*time.Second),
			kgo.AdjustFetchOffsetsFn(func(_ context.Context, offsets map[string]map[int32]kgo.Offset) (map[string]map[int32]kgo.Offset, error) {
				for partition, offset := range offsets[c.topic] {
					c.witness.assigned(name, partition, max(offset.EpochOffset().Offset, 0))
				}
				return offsets, nil
			}))
		client, err := kgo.NewClient(options...)
		if err != nil {
			c.t.Error(err)
			return
		}
		defer client.Close()
		for ctx.Err() == nil {
			fetches := client.PollRecords(ctx, 30)
			fetches.EachRecord(func(r *kgo.Record) { c.witness.reads(r.Partition, r.Offset) })
			if !fetches.Empty() {
				franzCommit(c, client, name, fetches)
			}
			client.AllowRebalance()
		}
	})
}

// franzCommit commits what was polled, and tells the witness which of it is acknowledged.
func franzCommit(c *churn, client *kgo.Client, name string, fetches kgo.Fetches) {
	offsets := map[string]map[int32]kgo.EpochOffset{c.topic: {}}
	fetches.EachRecord(func(r *kgo.Record) {
		offsets[c.topic][r.Partition] = kgo.EpochOffset{Epoch: r.LeaderEpoch, Offset: r.Offset + 1}
	})
	client.CommitOffsetsSync(context.Background(), offsets, func(_ *kgo.Client, request *kmsg.OffsetCommitRequest, response *kmsg.OffsetCommitResponse, err error) {
		if err != nil {
			c.witness.refuses()
			return
		}
		for i, topic := range response.Topics {
			for j, partition := range topic.Partitions {
				if kerr.ErrorForCode(partition.ErrorCode) != nil {
					c.witness.refuses()
					continue
				}
				c.witness.committed(name, partition.Partition, request.Topics[i].Partitions[j].Offset)
			}
		}
	})
}

func newSaramaCrew(c *churn) crew {
	return newInsideCrew(c.t, func(ctx context.Context, name string, m *memberRun) {
		config := saramaConfig(sarama.V2_8_0_0)
		config.ClientID = name
		config.Net.Proxy.Enable, config.Net.Proxy.Dialer = true, &m.line
		config.Metadata.Retry.Backoff, config.Metadata.Retry.Max = 20*time.Millisecond, 100
		config.Consumer.Offsets.Initial, config.Consumer.Offsets.AutoCommit.Enable = sarama.OffsetOldest, false
		config.Consumer.MaxWaitTime, config.Consumer.Retry.Backoff = 100*time.Millisecond, 50*time.Millisecond
		config.Consumer.Group.Session.Timeout, config.Consumer.Group.Heartbeat.Interval = churnSession, 300*time.Millisecond
		config.Consumer.Group.Rebalance.Timeout, config.Consumer.Group.Rebalance.Retry.Backoff = 5*time.Second, 50*time.Millisecond
		if m.silent {
			config.Metadata.Retry.Max = 3
		}
		consumer, err := sarama.NewConsumerGroup([]string{c.broker.Bootstrap()}, c.group, config)
		if err != nil {
			c.t.Error(err)
			return
		}
		defer consumer.Close()
		for ctx.Err() == nil {
			// Whatever ends a session, the next one follows: the broker may have been killed.
			if err := consumer.Consume(ctx, []string{c.topic}, &saramaChurner{churn: c, name: name}); err != nil {
				time.Sleep(50 * time.Millisecond)
			}
		}
	})
}

// saramaChurner reads and commits. Sarama does not tell which commits were acknowledged.
type saramaChurner struct {
	churn *churn
	name  string
}

// Setup does nothing: claims tell where they begin.
func (*saramaChurner) Setup(sarama.ConsumerGroupSession) error { return nil }

// Cleanup does nothing: all is committed as it is read.
func (*saramaChurner) Cleanup(sarama.ConsumerGroupSession) error { return nil }

// ConsumeClaim reads one partition until the session ends.
func (s *saramaChurner) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	s.churn.witness.assigned(s.name, claim.Partition(), max(claim.InitialOffset(), 0))
	for {
		select {
		case <-session.Context().Done():
			return nil
		case message, open := <-claim.Messages():
			if !open {
				return nil
			}
			s.churn.witness.reads(message.Partition, message.Offset)
			session.MarkMessage(message, "")
			if len(claim.Messages()) == 0 {
				session.Commit()
			}
		}
	}
}

// processCrew is members that are programs of their own and write partition, offset and a dot for each record as they read it. A silent one is killed.
type processCrew struct {
	churn    *churn
	command  func(name string) harness.Command
	programs map[string]*harness.Process
	silent   map[string]bool
	// politeness is what happens to the witness when a program is stopped as it should be.
	politeness func()
}

func newProcessCrew(c *churn, command func(name string) harness.Command, politeness func()) crew {
	return &processCrew{churn: c, command: command, politeness: politeness, programs: map[string]*harness.Process{}, silent: map[string]bool{}}
}

func (p *processCrew) join(name string, silent bool) {
	p.silent[name] = silent
	p.programs[name] = harness.Launch(p.churn.t, p.command(name), func(line string) {
		var partition int32
		var offset int64
		_, err := fmt.Sscanf(line, "%d %d .", &partition, &offset)
		switch {
		case err == nil:
			p.churn.witness.reads(partition, offset)
		case silent: // killed in the middle of a line
		default:
			p.churn.t.Errorf("%s wrote %q", name, line)
		}
	})
}

func (p *processCrew) end(name string) {
	if p.silent[name] {
		p.programs[name].Kill()
		return
	}
	p.politeness()
	p.programs[name].Terminate(p.churn.t, 30*time.Second)
}

// newKcatCrew has members that go on (-E) when their broker is away. A kcat that is told to end drops the record that it has just taken out of
// librdkafka, which commits it all the same.
func newKcatCrew(c *churn) crew {
	session := strconv.FormatInt(churnSession.Milliseconds(), 10)
	return newProcessCrew(c, func(name string) harness.Command {
		return kcat(c.t, c.broker.Bootstrap(), "-G", c.group, "-E", "-u", "-q", "-f", "%p %o .\n", "-X", "auto.offset.reset=earliest", "-X", "client.id="+name,
			"-X", "session.timeout.ms="+session, "-X", "heartbeat.interval.ms=300", "-X", "auto.commit.interval.ms=100", "-X", "fetch.wait.max.ms=100",
			"-X", "reconnect.backoff.max.ms=200", c.topic)
	}, c.witness.forgives)
}

func newKafkaJSCrew(c *churn) crew {
	session := strconv.FormatInt(churnSession.Milliseconds(), 10)
	return newProcessCrew(c, func(string) harness.Command {
		command := kafkaJSScript().command(c.t)
		command.Arguments = append(command.Arguments, "member", "bootstrap="+c.broker.Bootstrap(), "topic="+c.topic, "group="+c.group, "session="+session)
		return command
	}, func() {})
}
