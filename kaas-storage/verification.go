package storage

import (
	"errors"
	"fmt"
	"time"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

// Verification says that somebody has asked the transaction coordinator whether a producer has this partition in its transaction (KIP-890),
// from before the question on. The zero value verifies nothing.
type Verification struct {
	partition  *Partition // of this leadership only
	producerID int64
	epoch      int16
	began      int64 // log end when it began: a marker at or behind it may have ended the transaction that was asked about
}

// Verify begins a verification: ask the coordinator after it, and append with the result if the answer is yes. open means that a transaction of
// exactly this producer and epoch is open here, so that there is nothing to ask.
func (p *Partition) Verify(producerID int64, epoch int16) (v Verification, open bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Verification{partition: p, producerID: producerID, epoch: epoch, began: p.logEnd.Load()}, p.producers.inTransaction(producerID, epoch)
}

// inTransaction reports whether a transaction of this producer and epoch is open.
func (t producerTable) inTransaction(producerID int64, epoch int16) bool {
	p := t[producerID]
	return p != nil && p.Epoch == epoch && p.transaction().Start >= 0
}

// unverified is a batch that was not appended because nobody could say whether its transaction is open.
type unverified struct {
	epoch    int16
	sequence int32 // the first one, of the lowest such batch
	at       time.Time
}

// NotVerified is told of a transactional batch that is not appended because it could not be verified, for a reason that may pass. Its producer sends
// it again; until that has come, batches behind it are out of order even if nothing else is known of the producer: with any sequence allowed to
// be the first, a later batch would take its place and it would be refused for good (Kafka's VerificationStateEntry).
func (p *Partition) NotVerified(b batch.Batch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	last, known := p.unverified[b.ProducerID()]
	if known && (last.epoch > b.ProducerEpoch() || last.epoch == b.ProducerEpoch() && last.sequence <= b.BaseSequence()) {
		return
	}
	p.unverified[b.ProducerID()] = unverified{b.ProducerEpoch(), b.BaseSequence(), time.Now()}
}

// skipsLocked reports whether a batch that begins a transaction leaves one out that could not be verified.
func (p *Partition) skipsLocked(b batch.Batch) bool {
	missing, known := p.unverified[b.ProducerID()]
	return known && missing.epoch == b.ProducerEpoch() && missing.sequence < b.BaseSequence()
}

// verifiedLocked reports whether a verification still stands: it is void once a marker of the producer was appended.
func (p *Partition) verifiedLocked(v Verification, b batch.Batch) bool {
	if v.partition != p || v.producerID != b.ProducerID() || v.epoch != b.ProducerEpoch() || p.transactions.forgotten >= v.began {
		return false
	}
	known := p.producers[v.producerID]
	return known == nil || known.transaction().Marker < v.began
}

// mayJoinLocked holds a new batch of a producer against its transaction. sequence is what its epoch and sequence came to: a batch
// that is refused for these is told so, except that a batch outside of any transaction learns this first, as from Kafka.
func (p *Partition) mayJoinLocked(b batch.Batch, v Verification, config *Config, sequence error) error {
	switch {
	case b.ProducerID() < 0 || b.Control() || errors.Is(sequence, ErrProducerEpoch):
		return sequence
	case b.Transactional():
		if config.VerifyTransactions && !p.producers.inTransaction(b.ProducerID(), b.ProducerEpoch()) && !p.verifiedLocked(v, b) {
			return fmt.Errorf("producer %d has no transaction here that is verified: %w", b.ProducerID(), ErrInvalidTransaction)
		}
		if sequence == nil && p.skipsLocked(b) {
			return fmt.Errorf("an earlier batch of producer %d could not be verified: %w", b.ProducerID(), ErrOutOfOrderSequence)
		}
	case sequence == nil && p.producers[b.ProducerID()] != nil && p.producers[b.ProducerID()].transaction().Start >= 0:
		return fmt.Errorf("producer %d has a transaction open, its batch is not part of it: %w", b.ProducerID(), ErrInvalidTransaction)
	}
	return sequence
}
