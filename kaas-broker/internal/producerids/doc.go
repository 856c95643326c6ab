// Package producerids hands out producer ids from blocks.
package producerids
