package txn

// State is where a transaction is.
type State uint8

// The states that are kept. Kafka's Dead and PrepareEpochFence exist in the memory of its brokers only.
const (
	Empty          State = iota // no transaction since the producer registered
	Ongoing                     // partitions or groups were added
	PrepareCommit               // decided: commit markers are owed
	PrepareAbort                // decided: abort markers are owed
	CompleteCommit              // all commit markers are placed
	CompleteAbort               // all abort markers are placed
)

// stateNames are Kafka's, which tools show and records hold.
var stateNames = [...]string{
	Empty: "Empty", Ongoing: "Ongoing", PrepareCommit: "PrepareCommit", PrepareAbort: "PrepareAbort",
	CompleteCommit: "CompleteCommit", CompleteAbort: "CompleteAbort",
}

// String returns Kafka's name.
func (s State) String() string {
	if int(s) >= len(stateNames) {
		return "Unknown"
	}
	return stateNames[s]
}

// ParseState returns the state of a name; case matters.
func ParseState(name string) (State, bool) {
	for s := Empty; int(s) < len(stateNames); s++ {
		if stateNames[s] == name {
			return s, true
		}
	}
	return 0, false
}

// IsStateName reports whether Kafka has a state of this name. Two of those are never seen from outside.
func IsStateName(name string) bool {
	_, kept := ParseState(name)
	return kept || name == "Dead" || name == "PrepareEpochFence"
}

// IsDecided reports whether markers are owed.
func (s State) IsDecided() bool { return s == PrepareCommit || s == PrepareAbort }

// IsIdle reports whether there is no transaction: none has begun since the last one ended.
func (s State) IsIdle() bool { return s == Empty || s == CompleteCommit || s == CompleteAbort }

func prepared(commit bool) State {
	if commit {
		return PrepareCommit
	}
	return PrepareAbort
}

func completed(commit bool) State {
	if commit {
		return CompleteCommit
	}
	return CompleteAbort
}
