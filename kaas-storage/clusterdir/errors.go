package clusterdir

import "errors"

// What a caller branches on.
var (
	// ErrFenced: another process has taken over the cluster directory. This one must stop answering and end.
	ErrFenced = errors.New("another process has taken over the cluster directory")
	// ErrNotClaimed: the question needs a claim, and Claim was not called or did not succeed.
	ErrNotClaimed = errors.New("cluster directory is not claimed")
	// ErrFormat: a file or name in the cluster directory cannot be understood.
	ErrFormat = errors.New("cluster directory cannot be read")
	// ErrForeignCluster: the directory belongs to a cluster of another id than the one that was asked for.
	ErrForeignCluster = errors.New("cluster directory belongs to another cluster")
	// ErrExhausted: the last number of a range has been given away.
	ErrExhausted = errors.New("no numbers are left")
)
