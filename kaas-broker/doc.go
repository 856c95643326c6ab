// Package broker composes kaas: listeners, handlers, storage and metadata in one process.
package broker
