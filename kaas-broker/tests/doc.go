// Package tests runs real Kafka clients against kaas.
package tests
