// Package v1alpha1 holds the Go types of kaas's custom resources.
package v1alpha1
