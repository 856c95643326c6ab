//go:build !linux

package memory

// Limit is unknown here.
func Limit() int64 { return 0 }

// GroupLimit is 0: there are no control groups here.
func GroupLimit() int64 { return 0 }
