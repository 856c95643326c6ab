package transcripts

import "github.com/twmb/franz-go/pkg/kmsg"

func listTransactions(states ...string) *kmsg.ListTransactionsRequest {
	request := kmsg.NewPtrListTransactionsRequest()
	request.StateFilters = states
	return request
}

func listTransactionsScript(t *Talk) {
	const topic = "list-transactions"
	t.Ask("before there is any", 0, listTransactions())
	t.Topic(topic, 1)
	idle := t.transactional("idle", "idle")
	for id, commit := range map[string]bool{"committed": true, "aborted": false} {
		p := t.transactional(id, id)
		t.Begun(p, topic, 0, 0, "a")
		t.Ended(p, commit)
	}
	open := t.transactional("open", "open")
	t.Begun(open, topic, 0, 0, "a")
	t.Ask("all", 0, listTransactions())
	for _, state := range []string{
		"Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort", "Dead", "PrepareEpochFence", "ongoing", "Nonsense", "",
	} {
		t.Ask("state "+state+".", 0, listTransactions(state))
	}
	t.Ask("several states, unknown ones too", 0, listTransactions("Ongoing", "Empty", "Nonsense", "Ongoing", "Nonsense"))
	byID := listTransactions()
	byID.ProducerIDFilters = []int64{open.id, idle.id, -1}
	t.Ask("by producer id", 0, byID)
	both := listTransactions("Ongoing")
	both.ProducerIDFilters = []int64{idle.id}
	t.Ask("by producer id and another's state", 0, both)
	t.Ended(open, true)
}
