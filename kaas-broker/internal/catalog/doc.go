// Package catalog holds what topics this broker knows: names, ids, partition counts and configuration.
//
// It is memory only. The metadata store (a local one, or the Kubernetes watch) publishes into it; request handlers, ownership and the fetch
// path read from it. A read is one atomic load and never waits; a snapshot and the topics in it never change after
// they were published, so a handler works on one snapshot from beginning to end.
package catalog
