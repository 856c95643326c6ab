// Package api is the module of the Go types of kaas's Kubernetes resources, so that who reads or writes manifests needs no Kubernetes client. The types
// are in its package v1alpha1.
package api
