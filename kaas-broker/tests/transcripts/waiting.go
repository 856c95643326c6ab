package transcripts

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Waiting is a request on a connection of its own whose answer comes later.
type Waiting struct {
	talk    *Talk
	name    string
	request kmsg.Request
	own     *connection
}

// Begin sends a request that the broker answers after others. End records the answer.
func (t *Talk) Begin(name string, version int16, request kmsg.Request) *Waiting {
	t.test.Helper()
	c, err := dial(t.address)
	if err != nil {
		t.test.Fatal(err)
	}
	request.SetVersion(version)
	_ = c.send(c.frameOf(request, new(clientID))) // a broker that has closed already is told by the read
	time.Sleep(arrival)
	return &Waiting{talk: t, name: name, request: request, own: c}
}

// arrival is how long a request takes to be worked on: the next one comes after it on both brokers.
const arrival = 100 * time.Millisecond

// End waits for the answer, records it and closes the connection.
func (w *Waiting) End(masks ...string) kmsg.Response {
	w.talk.test.Helper()
	w.talk.swap(w)
	defer w.talk.swap(w)
	defer w.talk.Hangup()
	response, body, err := w.talk.answerTo(w.request)
	exchange := w.talk.exchange(w.name, w.request.Key(), w.request.GetVersion())
	if exchange.Answer = answerOf(err); err == nil {
		exchange.Lines = counted(w.talk.masks.linesOf(response, body), masks)
	}
	w.talk.exchanges = append(w.talk.exchanges, exchange)
	return response
}

// swap makes the connection of a waiting request the one that the talk uses, and back.
func (t *Talk) swap(w *Waiting) { t.connection, w.own = w.own, t.connection }
