package txn

import (
	"math"
	"time"
)

// Registration is an InitProducerId request of a transactional producer.
type Registration struct {
	Timeout time.Duration
	// Expected is what the producer believes to be (KIP-360), or NoProducer.
	Expected Producer
}

func (r Registration) isAnonymous() bool { return r.Expected == NoProducer() }

// lastEpoch is the highest epoch that a producer gets: one more is kept for fencing it.
const lastEpoch = math.MaxInt16 - 1

// Register gives the producer an epoch of its own, which fences every other (TransactionCoordinator.handleInitProducerId). An open transaction is aborted
// first; the answer is then ErrConcurrentTransactions until that is done. fresh is a new producer id; with -1 the refusal may be
// ErrProducerIDNeeded.
//
// A producer that names itself wrongly while a transaction is open is refused at once. Kafka aborts the transaction of its successor before it tells.
func (t Transaction) Register(r Registration, fresh int64, at Moment) Step {
	if !r.isAnonymous() && !t.mayBe(r.Expected) {
		return t.refuse(ErrProducerFenced)
	}
	switch {
	case t.State.IsDecided():
		return t.refuse(ErrConcurrentTransactions)
	case t.State == Ongoing && !r.isAnonymous() && r.Expected != t.Producer:
		return t.refuse(ErrProducerFenced)
	case t.State == Ongoing:
		step := t.Fence(at)
		step.Refusal = ErrConcurrentTransactions
		return step
	}
	return t.begin(r, fresh, at)
}

// mayBe reports whether a producer can be the present one, or the one before whose epochs ran out: it may not have heard of its new id.
func (t Transaction) mayBe(p Producer) bool {
	return t.Producer.Epoch < 0 || p.ID == t.Producer.ID || (p.ID == t.LastProducerID && p.Epoch >= lastEpoch)
}

func (t Transaction) begin(r Registration, fresh int64, at Moment) Step {
	next := t
	next.State, next.Start, next.Timeout, next.Identity = Empty, -1, r.Timeout, -1
	isNew := t.Producer.Epoch < 0
	switch {
	case isNew, t.Producer.Epoch >= lastEpoch && (r.isAnonymous() || r.Expected == t.Producer):
		if fresh < 0 {
			return t.refuse(ErrProducerIDNeeded)
		}
		next.Producer = Producer{ID: fresh}
		next.LastProducerID, next.LastEpoch = t.Producer.ID, -1
		if !isNew && !r.isAnonymous() {
			next.LastEpoch = t.Producer.Epoch
		}
	case r.isAnonymous():
		next.Producer.Epoch++
		next.LastProducerID, next.LastEpoch = t.Producer.ID, -1
	case r.Expected == t.Producer:
		next.Producer.Epoch++
		next.LastProducerID, next.LastEpoch = t.Producer.ID, t.Producer.Epoch
	case r.Expected.Epoch >= 0 && r.Expected.Epoch == t.LastEpoch:
		// The repetition of a registration that succeeded: nobody else registered since, or LastEpoch would be -1.
	default:
		return t.refuse(ErrProducerFenced)
	}
	return change(next, at)
}
