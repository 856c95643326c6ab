package group

// State is a group's state.
type State uint8

// The states, with Kafka's names.
const (
	Empty               State = iota // no members; offsets may be there
	PreparingRebalance               // waiting for members to join
	CompletingRebalance              // waiting for the leader's assignment
	Stable                           // every member has its assignment
	Dead                             // deleted, or no longer here
)

var stateNames = [...]string{"Empty", "PreparingRebalance", "CompletingRebalance", "Stable", "Dead"}

// String returns Kafka's name of the state, as it is on the wire.
func (s State) String() string {
	if int(s) >= len(stateNames) {
		return "Unknown"
	}
	return stateNames[s]
}
