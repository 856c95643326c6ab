package api

import (
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/internal/fetchsession"
	"github.com/kaas-rs/kaas/kaas-protocol"
)

// refuse answers a request with an error of its session. Below v7 there are none.
func (c *fetchCall) refuse(err error) protocol.Reply {
	response := responseTo[*kmsg.FetchResponse](c.request)
	response.ErrorCode = codeOf(err)
	return protocol.Reply{Message: response}
}

// refuseEach answers a request that cannot be understood: as a whole from v7 on, and each partition as long as topics have names.
func (c *fetchCall) refuseEach(err error) protocol.Reply {
	reply := c.refuse(err)
	if c.request.Version >= fetchByID {
		return reply
	}
	response := reply.Message.(*kmsg.FetchResponse)
	for _, wanted := range c.request.Topics {
		topic := kmsg.NewFetchResponseTopic()
		topic.Topic = wanted.Topic
		for _, partition := range wanted.Partitions {
			topic.Partitions = append(topic.Partitions, c.partition(partition.Partition, &fetchRow{err: err, bounds: untoldBounds}))
		}
		response.Topics = append(response.Topics, topic)
	}
	return reply
}

// reply builds the answer out of the rows and gives it their sections.
func (c *fetchCall) reply() protocol.Reply {
	results, id, err := c.endSession()
	if err != nil {
		return c.refuse(err)
	}
	response := &c.one.answer
	response.Default()
	response.Version, response.SessionID = c.request.Version, id
	sections := c.fill(response, results)
	if c.redirected {
		response.Brokers = []kmsg.FetchResponseBroker{kmsg.FetchResponseBroker(c.handlers.endpoint(c.conn.Listener()))}
	}
	return protocol.Reply{Message: response, Sections: sections}
}

// fill puts the rows into the response, but for those that the session lets skip, and returns their sections in the same layout: topic by topic.
func (c *fetchCall) fill(response *kmsg.FetchResponse, results []fetchsession.Result) [][]protocol.Section {
	partitions, sections := c.one.partitions[:0], c.one.sections[:0]
	byTopic := c.one.byTopic[:0]
	response.Topics = c.one.topics[:0]
	if kept, topics := c.count(results); kept > 1 {
		partitions = make([]kmsg.FetchResponseTopicPartition, 0, kept)
		sections = make([]protocol.Section, 0, kept)
		byTopic = make([][]protocol.Section, 0, topics)
		response.Topics = make([]kmsg.FetchResponseTopic, 0, topics)
	}
	wanted := c.session.Wanted()
	var last *fetchsession.Key
	first := 0 // of the topic's partitions
	for i := range wanted {
		if results != nil && results[i].Skip {
			continue
		}
		key := &wanted[i].Key
		if last == nil || !key.SameTopic(last) {
			first = len(partitions)
			response.Topics = append(response.Topics, kmsg.FetchResponseTopic{Topic: key.Topic, TopicID: key.TopicID})
			byTopic = append(byTopic, nil)
		}
		last = key
		row := &c.rows[i]
		partitions = append(partitions, c.partition(key.Partition, row))
		sections = append(sections, row.section)
		row.section = nil // the reply releases it
		t := len(response.Topics) - 1
		response.Topics[t].Partitions, byTopic[t] = partitions[first:], sections[first:]
	}
	return byTopic
}

// endSession tells the session what came of it. Without a session there are no results.
func (c *fetchCall) endSession() ([]fetchsession.Result, int32, error) {
	if c.request.Version < fetchWithSessions || c.request.SessionEpoch == -1 {
		return nil, fetchsession.NoSession, nil
	}
	results := make([]fetchsession.Result, len(c.rows))
	for i := range c.rows {
		row := &c.rows[i]
		results[i] = fetchsession.Result{
			Records: row.size > 0, Notable: row.err != nil || row.diverging.found,
			HighWatermark: row.bounds.HighWatermark, LogStart: row.bounds.LogStart,
		}
	}
	id, err := c.session.End(results)
	return results, id, err
}

// count says how many partitions the answer has, and under how many topics.
func (c *fetchCall) count(results []fetchsession.Result) (kept, topics int) {
	var last *fetchsession.Key
	wanted := c.session.Wanted()
	for i := range wanted {
		if results != nil && results[i].Skip {
			continue
		}
		kept++
		if key := &wanted[i].Key; last == nil || !key.SameTopic(last) {
			topics++
			last = key
		}
	}
	return kept, topics
}

// partition is the answer about one partition.
func (c *fetchCall) partition(index int32, row *fetchRow) kmsg.FetchResponseTopicPartition {
	answer := kmsg.NewFetchResponseTopicPartition()
	answer.Partition = index
	answer.HighWatermark, answer.LastStableOffset, answer.LogStartOffset = row.bounds.HighWatermark, row.bounds.LastStable, row.bounds.LogStart
	if row.err != nil {
		answer.ErrorCode = codeFor(keyFetch, c.request.Version, row.err)
		c.addLeader(&answer, row)
		if row.unknown() || errors.Is(row.err, kerr.UnsupportedCompressionType) || errors.Is(row.err, kerr.UnknownServerError) {
			// Null is for what the log itself was asked for.
			answer.AbortedTransactions = []kmsg.FetchResponseTopicPartitionAbortedTransaction{}
		}
		return answer
	}
	if row.diverging.found {
		answer.DivergingEpoch.Epoch, answer.DivergingEpoch.EndOffset = row.diverging.epoch, row.diverging.end
	}
	if c.request.IsolationLevel == readCommitted {
		// Null is for read_uncommitted.
		answer.AbortedTransactions = append([]kmsg.FetchResponseTopicPartitionAbortedTransaction{}, row.aborted...)
	}
	return answer
}

// addLeader names the leader to a client that asked the wrong one or in the wrong epoch (KIP-951).
func (c *fetchCall) addLeader(answer *kmsg.FetchResponseTopicPartition, row *fetchRow) {
	if c.request.Version < fetchWithLeader || row.topic == nil || !wrongLeader(answer.ErrorCode) {
		return
	}
	if node, epoch, known := c.handlers.leaderHint(row.topic, answer.Partition); known {
		answer.CurrentLeader.LeaderID, answer.CurrentLeader.LeaderEpoch = node, epoch
		c.redirected = true
	}
}
