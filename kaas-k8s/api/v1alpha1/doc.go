// Package v1alpha1 holds the Go types of kaas's resources KafkaTopic and KafkaUser, group kaas.rs.
//
// The same types describe topics and users everywhere: as custom resources in Kubernetes, and as YAML files in the
// cluster directory of a single broker. The package needs apimachinery only, no client.
//
// Values of these types are plain data: guard them yourself when goroutines share them, or use DeepCopy.
//
// +groupName=kaas.rs
package v1alpha1
