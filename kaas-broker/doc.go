// Package broker is the whole of kaas in one process: it opens the directories, the topics and the listeners that a configuration names, and serves Kafka's
// protocol on them until it is told to stop.
//
// It owns no behavior of its own, only the life of its parts and the order in which they are opened, drained and closed; DESIGN.md names them. Command
// kaas is a thin layer over it, and so is package brokertest, which runs a broker inside a Go test.
//
// # Life cycle
//
// Open makes a Broker and claims its directories; Run serves until its context ends, then drains, and leaves everything closed. A Broker runs once. Close is
// for one that never ran.
//
// # Concurrency
//
// Methods may be called concurrently. In single mode of two brokers on one directory the later one has it: Run of the earlier one returns ErrFenced.
package broker
