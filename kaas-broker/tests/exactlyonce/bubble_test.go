//go:build synctests

package exactlyonce

// fitsInBubble: franz-go waits for some of its locks while a request is on its way. With this build tag of its own it does so in a way that lets the time of a bubble
// go on.
const fitsInBubble = true
