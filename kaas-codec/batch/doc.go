// Package batch views, checks and converts Kafka record batches.
package batch
