// Package codec reads and writes Kafka's wire format: frames, headers and
// message bodies, and holds the table of the request keys that kaas serves.
//
// The bodies themselves are the message types of franz-go's kmsg. This package
// adds what a broker needs around them: size limits before allocation, a guard
// that refuses hostile lengths and counts before kmsg allocates for them,
// the header version of each key and version, and a Fetch response that leaves
// room for record bytes sent straight from files.
//
// It does not know what a request means, opens no connection, writes no log and
// starts no goroutine. Every function is safe for concurrent use on different
// arguments; the tables are never changed after the package is loaded.
//
// Records stay opaque here. Package batch views, checks and converts them.
package codec
