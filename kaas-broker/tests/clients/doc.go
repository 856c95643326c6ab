// Package clients holds tests of real Kafka clients against a broker, one file for each client, and tests that cross them: what one client
// wrote, all others must read. Consumers assign their partitions themselves.
//
// The scripts of the clients in other languages lie in python and node beside this file. `make client-suites` installs what they need.
package clients
