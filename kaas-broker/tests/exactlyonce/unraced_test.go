//go:build !race

package exactlyonce

const raced = false
