// Package protocol serves Kafka's protocol on TCP: listeners, connections and dispatch.
package protocol
