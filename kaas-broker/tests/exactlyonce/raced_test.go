//go:build race

package exactlyonce

// raced: the race detector is on, and is to be on where a test runs another.
const raced = true
