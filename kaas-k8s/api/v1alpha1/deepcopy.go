package v1alpha1

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// The copies are written by hand: few fields hold references, and a test walks every field to see that none is shared.

// DeepCopy returns a topic that shares nothing with this one; nil for nil.
func (t *KafkaTopic) DeepCopy() *KafkaTopic {
	if t == nil {
		return nil
	}
	out := new(KafkaTopic)
	t.DeepCopyInto(out)
	return out
}

// DeepCopyInto makes out a copy that shares nothing with this topic.
func (t *KafkaTopic) DeepCopyInto(out *KafkaTopic) {
	*out = *t
	t.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Spec.Replicas = copyPointer(t.Spec.Replicas)
	out.Spec.Config = maps.Clone(t.Spec.Config)
	if t.Spec.Storage != nil {
		out.Spec.Storage = &TopicStorage{
			Volumes:        slices.Clone(t.Spec.Storage.Volumes),
			VolumeSelector: maps.Clone(t.Spec.Storage.VolumeSelector),
		}
	}
	out.Status.Conditions = copyConditions(t.Status.Conditions)
	out.Status.VolumeAssignments = maps.Clone(t.Status.VolumeAssignments)
}

// DeepCopyObject is DeepCopy for runtime.Object.
func (t *KafkaTopic) DeepCopyObject() runtime.Object { return objectOrNil(t.DeepCopy()) }

// DeepCopy returns a list that shares nothing with this one; nil for nil.
func (l *KafkaTopicList) DeepCopy() *KafkaTopicList {
	if l == nil {
		return nil
	}
	out := new(KafkaTopicList)
	l.DeepCopyInto(out)
	return out
}

// DeepCopyInto makes out a copy that shares nothing with this list.
func (l *KafkaTopicList) DeepCopyInto(out *KafkaTopicList) {
	*out = *l
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = slices.Clone(l.Items)
	for i := range l.Items {
		l.Items[i].DeepCopyInto(&out.Items[i])
	}
}

// DeepCopyObject is DeepCopy for runtime.Object.
func (l *KafkaTopicList) DeepCopyObject() runtime.Object { return objectOrNil(l.DeepCopy()) }

// DeepCopy returns a user that shares nothing with this one; nil for nil.
func (u *KafkaUser) DeepCopy() *KafkaUser {
	if u == nil {
		return nil
	}
	out := new(KafkaUser)
	u.DeepCopyInto(out)
	return out
}

// DeepCopyInto makes out a copy that shares nothing with this user.
func (u *KafkaUser) DeepCopyInto(out *KafkaUser) {
	*out = *u
	u.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Spec.Authentication = u.Spec.Authentication.deepCopy()
	if u.Spec.Authorization != nil {
		out.Spec.Authorization = &UserAuthorization{
			Type: u.Spec.Authorization.Type,
			ACLs: slices.Clone(u.Spec.Authorization.ACLs),
		}
		for i := range out.Spec.Authorization.ACLs {
			rule := &out.Spec.Authorization.ACLs[i]
			rule.Operations = slices.Clone(rule.Operations)
		}
	}
	if quotas := u.Spec.Quotas; quotas != nil {
		out.Spec.Quotas = &UserQuotas{
			ProducerMaxByteRatePerBroker: copyPointer(quotas.ProducerMaxByteRatePerBroker),
			ConsumerMaxByteRatePerBroker: copyPointer(quotas.ConsumerMaxByteRatePerBroker),
			RequestPercentage:            copyPointer(quotas.RequestPercentage),
			ControllerMutationRate:       copyPointer(quotas.ControllerMutationRate),
		}
	}
	out.Status.Conditions = copyConditions(u.Status.Conditions)
}

// DeepCopyObject is DeepCopy for runtime.Object.
func (u *KafkaUser) DeepCopyObject() runtime.Object { return objectOrNil(u.DeepCopy()) }

// DeepCopy returns a list that shares nothing with this one; nil for nil.
func (l *KafkaUserList) DeepCopy() *KafkaUserList {
	if l == nil {
		return nil
	}
	out := new(KafkaUserList)
	l.DeepCopyInto(out)
	return out
}

// DeepCopyInto makes out a copy that shares nothing with this list.
func (l *KafkaUserList) DeepCopyInto(out *KafkaUserList) {
	*out = *l
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = slices.Clone(l.Items)
	for i := range l.Items {
		l.Items[i].DeepCopyInto(&out.Items[i])
	}
}

// DeepCopyObject is DeepCopy for runtime.Object.
func (l *KafkaUserList) DeepCopyObject() runtime.Object { return objectOrNil(l.DeepCopy()) }

func (a *UserAuthentication) deepCopy() *UserAuthentication {
	if a == nil {
		return nil
	}
	out := *a
	out.Password = copyPointer(a.Password)
	out.CertificateRef = copyPointer(a.CertificateRef)
	if a.Scram != nil {
		out.Scram = copyPointer(a.Scram)
		out.Scram.Salt = slices.Clone(a.Scram.Salt)
		out.Scram.StoredKey = slices.Clone(a.Scram.StoredKey)
		out.Scram.ServerKey = slices.Clone(a.Scram.ServerKey)
	}
	return &out
}

// objectOrNil keeps a nil pointer from becoming an interface that is not nil.
func objectOrNil[T any, P interface {
	*T
	runtime.Object
}](object P) runtime.Object {
	if object == nil {
		return nil
	}
	return object
}

func copyPointer[T any](pointer *T) *T {
	if pointer == nil {
		return nil
	}
	value := *pointer
	return &value
}

func copyConditions(conditions []metav1.Condition) []metav1.Condition {
	out := slices.Clone(conditions)
	for i := range conditions {
		conditions[i].DeepCopyInto(&out[i])
	}
	return out
}
