package coordinator

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kaas-rs/kaas/kaas-coordinator/txn"
)

// TransactionDescription is a transactional id as tools show it.
type TransactionDescription struct {
	Producer   Producer
	State      txn.State
	Timeout    time.Duration
	Start      int64 // when its transaction began, ms since 1970; -1 if none has since the producer registered
	Partitions []TransactionPartition
	Groups     []string
}

// DescribeTransaction is a DescribeTransactions request for one transactional id.
//
// Errors: ErrInvalidTransactionRequest, ErrLoading, ErrNotCoordinator, ErrTransactionalIDNotFound, and ctx's.
func (c *Coordinator) DescribeTransaction(ctx context.Context, id string) (TransactionDescription, error) {
	t, err := c.step(ctx, id, func(t txn.Transaction, known bool, _ txn.Moment) txn.Step {
		if !known {
			return txn.Step{Refusal: ErrTransactionalIDNotFound}
		}
		return txn.Step{Next: t}
	})
	if err != nil {
		return TransactionDescription{}, err
	}
	return TransactionDescription{
		Producer: t.Producer, State: t.State, Timeout: t.Timeout, Start: t.Start,
		Partitions: slices.Clone(t.Partitions), Groups: slices.Clone(t.Groups),
	}, nil
}

// TransactionFilter says which transactional ids are asked for. Its zero value asks for all.
type TransactionFilter struct {
	States      []string // Kafka's names, as they are written; empty: any
	ProducerIDs []int64  // empty: any
}

// TransactionList answers with the ids sorted.
type TransactionList struct {
	Transactions  []ListedTransaction
	UnknownStates []string // names in the filter that no state has
}

// ListedTransaction is one transactional id of a list.
type ListedTransaction struct {
	ID         string
	ProducerID int64
	State      txn.State
}

// ListTransactions is a ListTransactions request: the ids of the slots that are served here. Tools take a transaction that no broker lists for one
// that hangs, so that while a slot loads, or is lost meanwhile, there is no list.
//
// Errors: ErrLoading, and ctx's.
func (c *Coordinator) ListTransactions(ctx context.Context, f TransactionFilter) (TransactionList, error) {
	arrived := time.Now()
	if c.isLoading() {
		return TransactionList{}, ErrLoading
	}
	served := c.all()
	lists, errs := make([][]ListedTransaction, len(served)), make([]error, len(served))
	var work sync.WaitGroup
	for i, led := range served {
		work.Go(func() { lists[i], errs[i] = led.listTransactions(ctx, f, arrived) })
	}
	work.Wait()
	if err := context.Cause(ctx); err != nil {
		return TransactionList{}, err
	}
	if err := errors.Join(errs...); err != nil {
		return TransactionList{}, ErrLoading
	}
	list := TransactionList{Transactions: slices.Concat(lists...)}
	slices.SortFunc(list.Transactions, func(a, b ListedTransaction) int { return strings.Compare(a.ID, b.ID) })
	for _, name := range f.States {
		if !txn.IsStateName(name) {
			list.UnknownStates = append(list.UnknownStates, name)
		}
	}
	return list, nil
}

// isLoading reports whether a slot is this process's to serve but is not served.
func (c *Coordinator) isLoading() bool {
	for i := range c.seats {
		if s := c.seats[i].Load(); s != nil && s.led == nil {
			return true
		}
	}
	return false
}

func (l *leadership) listTransactions(ctx context.Context, f TransactionFilter, arrived time.Time) ([]ListedTransaction, error) {
	var list []ListedTransaction
	err := l.settled(ctx, arrived, func() {
		for id, t := range l.transactions {
			if f.wants(t.Transaction) {
				list = append(list, ListedTransaction{ID: id, ProducerID: t.Producer.ID, State: t.State})
			}
		}
	})
	return list, err
}

func (f TransactionFilter) wants(t txn.Transaction) bool {
	switch {
	case len(f.States) > 0 && !slices.Contains(f.States, t.State.String()):
		return false
	case len(f.ProducerIDs) > 0 && !slices.Contains(f.ProducerIDs, t.Producer.ID):
		return false
	}
	return true
}
