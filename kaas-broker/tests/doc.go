// Package tests holds the tests of kaas with real Kafka clients. It is a module of its own, never tagged, so that nobody who uses the broker
// gets the dependencies of its clients.
//
//   - harness starts the broker under test, stops it, kills it and finds the tools of others.
//   - bench races kaas against Apache Kafka; it is a command, see `make bench`.
//   - clients holds one file for each client, and the tests that cross them.
//   - exactlyonce checks transactions from the outside while everything fails.
//   - transcripts compares the answers to raw requests with those of Apache Kafka.
//   - readme runs the commands of README.md and compares what they print.
package tests
