package api

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-storage"
)

// noteAborted lists the transactions whose records in the section a reader of committed records has to leave out.
func (r *fetchRow) noteAborted(section *storage.Section, from int64) error {
	end, err := section.End()
	if err != nil {
		return err
	}
	aborted, err := r.partition.AbortedIn(from, end)
	if err != nil {
		return err
	}
	r.aborted = make([]kmsg.FetchResponseTopicPartitionAbortedTransaction, len(aborted))
	for i, transaction := range aborted {
		r.aborted[i].ProducerID, r.aborted[i].FirstOffset = transaction.ProducerID, transaction.FirstOffset
	}
	return nil
}
