// Package codec reads and writes Kafka's wire format: frames, headers and message bodies.
package codec
