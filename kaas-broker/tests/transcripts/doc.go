// Package transcripts compares kaas with Apache Kafka, request by request.
//
// A script talks to one broker over a plain socket: good requests, bad ones, frames that are no requests at all. What Apache Kafka 3.7.2 answered is
// kept in testdata, one file for each script; `make oracle` records it anew. The tests send the same to kaas, in memory and with a data directory,
// and every difference must be one of testdata/deviations.txt.
//
// To add an exchange, add a line to a script and run `make oracle`. To add a script, write a file for its API and a row in scripts.go.
//
//   - scripts.go lists the scripts; every other file whose name is an API's holds one.
//   - talk.go is what scripts call: Ask records an exchange, Prepare sends a request that is not recorded.
//   - waiting.go is for a request whose answer comes after those to others.
//   - groups.go and transactions.go hold what the scripts about these share.
//   - connection.go sends and receives frames, batches.go makes records to produce.
//   - render.go writes an answer down, mask.go hides what differs from run to run, records.go does it for record batches.
//   - recording.go keeps exchanges in a file, compare.go finds what differs, deviations.go what may.
//
// Fields with the value that a message has when nobody sets it are left out, so `{}` is plain success. Array elements are named by what identifies
// them and sorted by it, because Apache Kafka keeps them in maps: the order of topics in an answer is not compared.
package transcripts
