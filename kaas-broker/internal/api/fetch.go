package api

// Fetch, key 1, v0-v16. Pipelined, but all its work is done when its turn to answer has come: sessions and long polls go in request order.
//
// A response carries file sections, not copies; no record is decoded, except to convert down for v0-v3. The long poll waits for watermarks, not for
// timers. An error of a log is answered at once; a partition that is unknown here is not waited for, nor does it end the wait for others. A fetch that would
// return nothing first makes sure that the leader has not been replaced: one that has would serve emptiness for ever.
//
// Deviations: a partition that has reached its own partition_max_bytes is answered at once, even below min_bytes (Kafka waits). With
// OFFSET_OUT_OF_RANGE the real bounds are told (3.7: -1). Replica ids and racks do not matter: there are no followers, and the leader is always the one to
// read from. A topic that was deleted and made again within a session answers UNKNOWN_TOPIC_ID, where 3.7 may answer INCONSISTENT_TOPIC_ID.

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/internal/fetchsession"
	"github.com/kaas-rs/kaas/kaas-protocol"
)

// Versions from which Fetch is different.
const (
	fetchWithMagic1    int16 = 2  // clients understand messages with timestamps
	fetchWithLimit     int16 = 3  // max_bytes, and the first batch comes whole
	fetchWithV2        int16 = 4  // clients understand v2 batches
	fetchWithSessions  int16 = 7  // KIP-227
	fetchWithEpoch     int16 = 9  // the leader epoch that the client believes to be current (KIP-320)
	fetchWithZstd      int16 = 10 // KIP-110
	fetchWithLastEpoch int16 = 12 // the epoch of the client's last record (KIP-595)
	fetchByID          int16 = 13 // topics have ids instead of names (KIP-516)
	fetchWithLeader    int16 = 16 // current leader and node endpoints (KIP-951)
)

// fetchCall is one Fetch request.
type fetchCall struct {
	handlers *Handlers
	conn     *protocol.Conn
	request  *kmsg.FetchRequest
	session  *fetchsession.Fetch
	rows     []fetchRow // one for each wanted partition
	maxBytes int
	minBytes int

	looked     bool // every partition was read once
	redirected bool // a partition names its leader, whose endpoint has to be told

	one fetchRoom
}

// fetchRoom is the room for the answer about one partition.
type fetchRoom struct {
	answer     kmsg.FetchResponse
	row        [1]fetchRow
	topics     [1]kmsg.FetchResponseTopic
	partitions [1]kmsg.FetchResponseTopicPartition
	sections   [1]protocol.Section
	byTopic    [1][]protocol.Section
}

func (h *Handlers) fetch(_ context.Context, r *protocol.Request, request *kmsg.FetchRequest) protocol.FinishFunc {
	call := &fetchCall{handlers: h, conn: r.Conn, request: request}
	return call.finish
}

func (c *fetchCall) finish(ctx context.Context) (protocol.Reply, error) {
	if level := c.request.IsolationLevel; level != readUncommitted && level != readCommitted {
		return c.refuseEach(kerr.UnknownServerError), nil
	}
	if err := c.begin(); err != nil {
		return c.refuse(err), nil
	}
	defer c.release() // what the reply took over is not released
	if err := c.poll(ctx); err != nil {
		return protocol.Reply{}, err
	}
	return c.reply(), nil
}

// begin finds out what to read, within its session.
func (c *fetchCall) begin() error {
	var err error
	c.session, err = c.handlers.sessions.Begin(sessionRequest(c.request))
	if err != nil {
		return err
	}
	c.maxBytes = c.handlers.Config.Fetch.MaxBytes
	if c.request.Version >= fetchWithLimit {
		c.maxBytes = min(c.maxBytes, max(int(c.request.MaxBytes), 0))
	}
	c.minBytes = min(int(c.request.MinBytes), c.maxBytes)
	if count := len(c.session.Wanted()); count > len(c.one.row) {
		c.rows = make([]fetchRow, count)
	} else {
		c.rows = c.one.row[:count]
	}
	return nil
}

// poll reads until there is enough to answer, or max_wait is over.
func (c *fetchCall) poll(ctx context.Context) error {
	if c.read(ctx) || c.request.MaxWaitMillis <= 0 || len(c.rows) == 0 {
		return c.confirmEmpty(ctx)
	}
	timer := time.NewTimer(time.Duration(c.request.MaxWaitMillis) * time.Millisecond)
	defer timer.Stop()
	watch := newFetchWatch(c.rows)
	defer func() { watch.end() }()
	for {
		// What came before the watch began makes no noise, so the next look is after it.
		if c.read(ctx) {
			return c.confirmEmpty(ctx)
		}
		if !watch.covers(c.rows) {
			watch.end()
			watch = newFetchWatch(c.rows)
			continue
		}
		select {
		case <-watch.changed:
		case <-timer.C:
			return c.confirmEmpty(ctx)
		case <-c.conn.Draining():
			return c.confirmEmpty(ctx)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// maxConfirmedAge is how old the fence check behind an answer without records may be.
const maxConfirmedAge = time.Second

// confirmEmpty checks the leadership of every partition if the answer has no records.
func (c *fetchCall) confirmEmpty(ctx context.Context) error {
	for i := range c.rows {
		if c.rows[i].size > 0 {
			return nil
		}
	}
	notBefore := time.Now().Add(-maxConfirmedAge)
	if len(c.rows) > 1 {
		ended := endedContext(ctx)
		for i := range c.rows {
			if row := &c.rows[i]; row.err == nil {
				_ = row.partition.Confirm(ended, notBefore)
			}
		}
	}
	for i := range c.rows {
		row := &c.rows[i]
		if row.err != nil {
			continue
		}
		if err := row.partition.Confirm(ctx, notBefore); err != nil {
			row.fail(err)
		}
	}
	return ctx.Err()
}

func (c *fetchCall) release() {
	for i := range c.rows {
		c.rows[i].release()
	}
}
