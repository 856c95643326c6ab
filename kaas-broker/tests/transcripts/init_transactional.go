package transcripts

import (
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// initTransactionalScript registers producers under transactional ids (KIP-98, KIP-360).
func initTransactionalScript(t *Talk) {
	const topic = "init-transactional"
	t.Topic(topic, 1)
	first := t.second("init-transactional", "first")
	t.AskEach("a producer that has registered before", 0, 4, initializing("init-transactional"))
	for version := int16(3); version <= 4; version++ {
		initReturning(t, version)
		initOpen(t, topic, version)
	}
	for _, stranger := range strangers(first) {
		t.AskEach("returning with "+stranger.name, 3, 4, returning(stranger.producer))
	}
	for _, id := range groupIDs[1:] {
		t.Ask("a transactional id: "+id.name, 4, initializing(id.id))
	}
}

// initReturning has a producer return with its id and epoch.
func initReturning(t *Talk, version int16) {
	name := "init-returning-v" + strconv.Itoa(int(version))
	p := t.transactional(name, name)
	t.Ask(name+": with its epoch", version, returning(p))
	t.Ask(name+": with its epoch again", version, returning(p))
	t.Ask(name+": with the epoch that it got", version, returning(p.at(p.epoch+1)))
	t.Ask(name+": with the first epoch", version, returning(p))
	t.Ask(name+": with an epoch to come", version, returning(p.at(p.epoch+9)))
	t.Ask(name+": without", version, initializing(name))
	t.Ask(name+": with the epoch before that", version, returning(p.at(p.epoch+2)))
	t.Ask(name+": with the largest epoch", version, returning(p.at(32767)))
	response := t.Prepare(4, initializing(name)).(*kmsg.InitProducerIDResponse)
	t.Ask(name+": with its epoch at last", version, returning(p.at(response.ProducerEpoch)))
}

// initOpen registers while a transaction is open.
func initOpen(t *Talk, topic string, version int16) {
	name := "init-open-v" + strconv.Itoa(int(version))
	p := t.transactional(name, name)
	t.Begun(p, topic, 0, 0, "a")
	t.Ask(name+": with a transaction open", version, initializing(name))
	t.Completed(name)
	t.Ask(name+": when it was aborted, with its epoch", version, returning(p))
	t.Ask(name+": when it was aborted", version, initializing(name))
	t.Ask(name+": the end of the old epoch's transaction", 3, ended(p, true))
	current := p.at(p.epoch + 2)
	t.Begun(current, topic, 0, 0, "b")
	t.Ask(name+": with its epoch and a transaction open", version, returning(current))
	t.Completed(name)
	t.Ask(name+": with the epoch of the aborted transaction", version, returning(current))
	t.Ask(name+": with the epoch above that", version, returning(current.at(current.epoch+1)))
}
