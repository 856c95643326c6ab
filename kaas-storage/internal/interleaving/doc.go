// Package interleaving is the safety argument of the log engine as a program. It runs several owners of one partition, each with the engine's
// real code, on a simulated file server, and decides at every file call who goes on. A judge compares after every step what was acknowledged
// and shown with what the newest owner has.
//
// README.md says what is modeled, how to replay a schedule, and which bugs were found.
package interleaving
