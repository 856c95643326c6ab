//go:build !synctests

package exactlyonce

const fitsInBubble = false
