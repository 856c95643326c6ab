package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// KafkaTopic declares a topic: how many partitions it has, how it is configured, and where its data may live.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=kkt,categories=kaas
// +kubebuilder:printcolumn:name="Partitions",type=integer,JSONPath=`.spec.partitions`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type KafkaTopic struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   KafkaTopicSpec   `json:"spec"`
	Status KafkaTopicStatus `json:"status,omitzero"`
}

// TopicName returns the name that Kafka clients use: spec.topicName, or the object's name when that is empty.
func (t *KafkaTopic) TopicName() string {
	if t.Spec.TopicName != "" {
		return t.Spec.TopicName
	}
	return t.Name
}

// KafkaTopicSpec is what the author of a topic decides.
type KafkaTopicSpec struct {
	// TopicName is the topic's name in Kafka when it is no legal object name; empty stands for metadata.name. It
	// cannot be changed.
	// +kubebuilder:validation:MaxLength=249
	TopicName string `json:"topicName,omitempty"`
	// Partitions is the number of partitions. It can only grow; 0 stands for the broker's num.partitions.
	// +kubebuilder:validation:Minimum=1
	Partitions int32 `json:"partitions,omitempty"`
	// Replicas is read so that manifests written for replicating clusters apply. It has no effect.
	// +kubebuilder:validation:Minimum=1
	Replicas *int32 `json:"replicas,omitempty"`
	// Config holds the topic's own configuration.
	Config TopicConfig `json:"config,omitempty"`
	// Storage names the volumes that may hold the topic; nil leaves the choice to the cluster.
	Storage *TopicStorage `json:"storage,omitempty"`
}

// TopicStorage places a topic in a pool of volumes. At most one of the fields is set.
type TopicStorage struct {
	// Volumes are members of the pool by name.
	Volumes []string `json:"volumes,omitempty"`
	// VolumeSelector selects members of the pool by their labels.
	VolumeSelector map[string]string `json:"volumeSelector,omitempty"`
}

// KafkaTopicStatus is what became of the spec.
type KafkaTopicStatus struct {
	// Conditions holds Ready and what else there is to say, one of each type.
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// ObservedGeneration is the generation of the spec that this status speaks of.
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// TopicID is the topic's id (KIP-516) as a UUID in its usual text form. It is chosen once and never changes; a
	// topic that is deleted and created again has another.
	TopicID string `json:"topicId,omitempty"`
	// TopicName is the name under which the topic was created.
	TopicName string `json:"topicName,omitempty"`
	// PartitionCount is how many partitions exist.
	PartitionCount int32 `json:"partitionCount,omitempty"`
	// PartitionsOutsideSpec counts the partitions whose volume spec.storage does not allow.
	PartitionsOutsideSpec int32 `json:"partitionsOutsideSpec,omitempty"`
	// VolumeAssignments tells the volume of each partition, by the partition's number.
	VolumeAssignments map[string]string `json:"volumeAssignments,omitempty"`
}

// KafkaTopicList is a list of topics.
//
// +kubebuilder:object:root=true
type KafkaTopicList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []KafkaTopic `json:"items"`
}
