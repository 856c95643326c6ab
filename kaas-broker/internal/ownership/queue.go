package ownership

// queueState says whether an entry waits for a takeover, and where.
type queueState uint8

const (
	queuedNowhere queueState = iota
	queuedNormal
	queuedUrgent
)

// queue orders takeovers: those that a request waits for come first. Entries that moved are left behind where they were and skipped.
type queue struct {
	urgent, normal []*entry
}

func (q *queue) push(e *entry, urgent bool) {
	switch {
	case urgent && e.state != queuedUrgent:
		e.state = queuedUrgent
		q.urgent = append(q.urgent, e)
	case !urgent && e.state == queuedNowhere:
		e.state = queuedNormal
		q.normal = append(q.normal, e)
	}
}

// urge moves a waiting entry to the front.
func (q *queue) urge(e *entry) {
	if e.state == queuedNormal {
		q.push(e, true)
	}
}

func (q *queue) pop() *entry {
	for len(q.urgent) > 0 {
		e := q.urgent[0]
		q.urgent = q.urgent[1:]
		if e.state == queuedUrgent {
			e.state = queuedNowhere
			return e
		}
	}
	for len(q.normal) > 0 {
		e := q.normal[0]
		q.normal = q.normal[1:]
		if e.state == queuedNormal {
			e.state = queuedNowhere
			return e
		}
	}
	return nil
}
