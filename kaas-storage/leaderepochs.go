package storage

import "slices"

// epochStart says at which offset the records of a leader epoch begin.
type epochStart struct {
	Epoch Epoch `json:"epoch"`
	First int64 `json:"first"`
}

// leaderEpochs are the epochs found in batch headers, ascending in both fields (Kafka's LeaderEpochFileCache).
// Copied batches keep their epochs, so the list says who wrote a record, not which file holds it.
type leaderEpochs []epochStart

// note adds the epoch of a batch unless it is the newest already.
func (l leaderEpochs) note(e Epoch, first int64) leaderEpochs {
	if n := len(l); n > 0 && l[n-1].Epoch >= e {
		return l
	}
	return append(l, epochStart{e, first})
}

func (l leaderEpochs) ascending() bool {
	for i, e := range l {
		if e.Epoch < 0 || e.First < 0 || i > 0 && (e.Epoch <= l[i-1].Epoch || e.First <= l[i-1].First) {
			return false
		}
	}
	return true
}

// trim forgets epochs that ended at or below the log start. The one that holds the log start begins there from now on.
func (l leaderEpochs) trim(logStart int64) leaderEpochs {
	keep := 0
	for keep+1 < len(l) && l[keep+1].First <= logStart {
		keep++
	}
	if keep == 0 && (len(l) == 0 || l[0].First >= logStart) {
		return l
	}
	trimmed := slices.Clone(l[keep:])
	trimmed[0].First = max(trimmed[0].First, logStart)
	return trimmed
}

// holder is the epoch of the record at offset, NoEpoch when the list does not reach back so far.
func (l leaderEpochs) holder(offset int64) Epoch {
	for i := len(l) - 1; i >= 0; i-- {
		if l[i].First <= offset {
			return l[i].Epoch
		}
	}
	return NoEpoch
}

// end answers OffsetForLeaderEpoch (KIP-101, KIP-279): the largest known epoch not above the asked one, and where the next begins.
// current is the leader's own epoch, which may have no record yet, and logEnd where it ends. (NoEpoch, -1) means unknown.
func (l leaderEpochs) end(asked, current Epoch, logEnd int64) (Epoch, int64) {
	switch {
	case asked < 0 || asked > current:
		return NoEpoch, -1
	case asked == current:
		return current, logEnd
	case len(l) == 0:
		return asked, logEnd // no record yet: the first known epoch is the current one, and it begins here
	case asked < l[0].Epoch:
		return asked, l[0].First
	}
	i := len(l) - 1
	for l[i].Epoch > asked {
		i--
	}
	if i == len(l)-1 {
		return l[i].Epoch, logEnd
	}
	return l[i].Epoch, l[i+1].First
}
