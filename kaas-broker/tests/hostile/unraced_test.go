//go:build !race

package hostile

const (
	raced   = false
	cutStep = 1
)
