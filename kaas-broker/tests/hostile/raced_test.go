//go:build race

package hostile

// raced: under the race detector, in the test and in its broker, memory is not what it is without.
const raced = true

// cutStep is the distance of truncations: the detector looks for races, which need few of them.
const cutStep = 3
