package exactlyonce

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// producer runs transactions under one transactional id, in one process after the other.
type producer struct {
	run    *run
	number int
	random *rand.Rand
	kafka  *kgo.Client
	inside atomic.Pointer[client]
}

func (p *producer) open() {
	inside := newUnlucky(p.run.world, p.random.Uint64(), &p.run.healed)
	kafka, err := kgo.NewClient(inside.options(kgo.DefaultProduceTopic(input), kgo.TransactionalID(fmt.Sprintf("producer-%d", p.number)))...)
	if err != nil {
		p.run.t.Error(err)
		return
	}
	p.kafka = kafka
	p.inside.Store(inside)
}

// leave forgets the client as if its process had crashed.
func (p *producer) leave() {
	inside, kafka := p.inside.Load(), p.kafka
	p.kafka = nil
	inside.crash()
	p.run.background.Go(kafka.Close)
}

// produce runs so many transactions.
func (p *producer) produce(transactions int) {
	for n := range transactions {
		if p.run.t.Failed() {
			break
		}
		if p.kafka == nil {
			p.open()
		}
		t := transaction{p.number, n}
		records := 1 + p.random.IntN(6)
		p.run.ledger.begins(t, records)
		if err := p.transact(t, records); err != nil {
			p.run.failed("producer", p.number, err)
			p.leave()
		}
		time.Sleep(time.Duration(p.random.IntN(p.run.pace)) * time.Millisecond)
	}
	if p.kafka != nil {
		p.leave()
	}
}

func (p *producer) transact(t transaction, records int) error {
	ctx, cancel := context.WithTimeout(p.inside.Load().alive, patience)
	defer cancel()
	if err := p.inside.Load().bounded(p.kafka.BeginTransaction); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	failure := p.send(ctx, t, records)
	switch {
	case failure != nil:
		return failure
	case p.random.IntN(12) == 0:
		return errLeft
	case p.random.IntN(12) == 0:
		p.haunt(t)
		return nil
	case p.random.IntN(5) == 0:
		if err := p.kafka.EndTransaction(ctx, kgo.TryAbort); err != nil {
			return fmt.Errorf("abort: %w", err)
		}
		p.run.ledger.is(t, aborted)
		return nil
	}
	p.run.ledger.is(t, asked)
	if err := p.kafka.EndTransaction(ctx, kgo.TryCommit); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	p.run.ledger.is(t, committed)
	return nil
}

// send sends the records of a transaction and waits for their answers.
func (p *producer) send(ctx context.Context, t transaction, records int) error {
	failed := make(chan error, records)
	for i := range records {
		s := stamp{t.producer, t.number, i}
		p.kafka.Produce(ctx, &kgo.Record{Partition: s.partition(), Key: []byte(s.key()), Value: []byte(s.String())},
			func(_ *kgo.Record, err error) { failed <- err })
		if p.random.IntN(3) == 0 {
			time.Sleep(time.Duration(p.random.IntN(p.run.pace)) * time.Millisecond)
		}
	}
	for range records {
		select {
		case err := <-failed:
			if err != nil {
				return fmt.Errorf("produce: %w", err)
			}
		case <-ctx.Done():
			return fmt.Errorf("produce: %w", context.Cause(ctx)) // records that may be on their way do not end with it
		}
	}
	return nil
}

// haunt goes on with a new process while the old one lives. What that does once the new one is registered must have no effect.
func (p *producer) haunt(t transaction) {
	zombie, inside := p.kafka, p.inside.Load()
	p.open()
	ctx, cancel := context.WithTimeout(p.inside.Load().alive, patience)
	defer cancel()
	if _, _, err := p.kafka.ProducerID(ctx); err != nil {
		inside.crash()
		p.run.background.Go(zombie.Close)
		return
	}
	delay := time.Duration(p.random.IntN(2000)) * time.Millisecond
	p.run.background.Go(func() {
		time.Sleep(delay)
		ctx, cancel := context.WithTimeout(inside.alive, patience)
		defer cancel()
		late := stamp{t.producer, t.number, p.run.ledger.recordsOf(t)}
		zombie.Produce(ctx, &kgo.Record{Partition: late.partition(), Key: []byte(late.key()), Value: []byte(late.String())}, nil)
		if err := zombie.EndTransaction(ctx, kgo.TryCommit); err == nil {
			p.run.t.Errorf("%vtransaction %v: a producer has committed whose successor was registered", p.run.name, t)
		}
		inside.crash()
		zombie.Close()
	})
}
