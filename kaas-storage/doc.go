// Package storage is a log engine: partitions of record batches on a file system, one fenced writer each.
package storage
