package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Group and Version are the two halves of apiVersion.
const (
	Group   = "kaas.rs"
	Version = "v1alpha1"
)

// APIVersion is what manifests write into apiVersion.
const APIVersion = Group + "/" + Version

// Kinds of the resources, as manifests write them.
const (
	KindKafkaTopic = "KafkaTopic"
	KindKafkaUser  = "KafkaUser"
)

// GroupVersion identifies the types of this package in a scheme.
func GroupVersion() schema.GroupVersion { return schema.GroupVersion{Group: Group, Version: Version} }

// AddToScheme makes the types known to a scheme, as clients and caches need it.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion(), &KafkaTopic{}, &KafkaTopicList{}, &KafkaUser{}, &KafkaUserList{})
	metav1.AddToGroupVersion(scheme, GroupVersion())
	return nil
}
