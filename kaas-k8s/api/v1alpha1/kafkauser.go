package v1alpha1

import (
	"encoding/json"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// KafkaUser declares a user: how it proves who it is, what it may do, and how much.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=kku,categories=kaas
// +kubebuilder:printcolumn:name="Authentication",type=string,JSONPath=`.spec.authentication.type`
// +kubebuilder:printcolumn:name="Authorization",type=string,JSONPath=`.spec.authorization.type`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type KafkaUser struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   KafkaUserSpec   `json:"spec"`
	Status KafkaUserStatus `json:"status,omitzero"`
}

// KafkaUserSpec is what the author of a user decides.
type KafkaUserSpec struct {
	// Authentication is nil for a user whose identity another system vouches for.
	Authentication *UserAuthentication `json:"authentication,omitempty"`
	// Authorization is nil for a user without rights of its own.
	Authorization *UserAuthorization `json:"authorization,omitempty"`
	// Quotas is nil for a user without limits of its own.
	Quotas *UserQuotas `json:"quotas,omitempty"`
}

// AuthenticationType is how a user proves who it is.
//
// +kubebuilder:validation:Enum=scram-sha-512;scram-sha-256;tls;tls-external
type AuthenticationType string

// The ways to prove who one is.
const (
	AuthenticationScramSHA512 AuthenticationType = "scram-sha-512"
	AuthenticationScramSHA256 AuthenticationType = "scram-sha-256"
	AuthenticationTLS         AuthenticationType = "tls"
	AuthenticationTLSExternal AuthenticationType = "tls-external"
)

// UserAuthentication is how a user proves who it is. Which fields count depends on the type.
type UserAuthentication struct {
	Type AuthenticationType `json:"type"`
	// Password names the Secret with the password of a SCRAM user; without it, and without Scram, a password of 32
	// characters is made.
	Password *UserPassword `json:"password,omitempty"`
	// Scram is a credential that was derived elsewhere.
	Scram *ScramCredential `json:"scram,omitempty"`
	// CertificateRef names the certificate whose common name becomes the principal.
	CertificateRef *NameReference `json:"certificateRef,omitempty"`
}

// UserPassword names the key of a Secret. It reads both `{name, key}` and Strimzi's
// `{valueFrom: {secretKeyRef: {name, key}}}`, and writes the first.
type UserPassword struct {
	Name string `json:"name"`
	Key  string `json:"key"`
}

// errPasswordSpelling means that both spellings of a password reference were used.
var errPasswordSpelling = errors.New("read password reference: name and key exclude valueFrom")

// UnmarshalJSON reads either spelling; both at once are an error.
func (p *UserPassword) UnmarshalJSON(data []byte) error {
	var both struct {
		Name      string `json:"name"`
		Key       string `json:"key"`
		ValueFrom *struct {
			SecretKeyRef struct {
				Name string `json:"name"`
				Key  string `json:"key"`
			} `json:"secretKeyRef"`
		} `json:"valueFrom"`
	}
	if err := json.Unmarshal(data, &both); err != nil {
		return err
	}
	*p = UserPassword{Name: both.Name, Key: both.Key}
	if both.ValueFrom == nil {
		return nil
	}
	if both.Name != "" || both.Key != "" {
		return errPasswordSpelling
	}
	*p = UserPassword{Name: both.ValueFrom.SecretKeyRef.Name, Key: both.ValueFrom.SecretKeyRef.Key}
	return nil
}

// ScramCredential is a SCRAM credential (RFC 5802). The byte fields are base64 in manifests.
type ScramCredential struct {
	Salt       []byte `json:"salt"`
	StoredKey  []byte `json:"storedKey"`
	ServerKey  []byte `json:"serverKey"`
	Iterations int32  `json:"iterations"`
}

// NameReference names an object in the same namespace.
type NameReference struct {
	Name string `json:"name"`
}

// UserAuthorization is what a user may do.
type UserAuthorization struct {
	// Type is simple.
	// +kubebuilder:validation:Enum=simple
	Type string `json:"type"`
	// +kubebuilder:validation:MaxItems=1024
	ACLs []ACLRule `json:"acls,omitempty"`
}

// ACLRule allows or denies operations on a resource. Empty fields stand for the defaults that their comments name, which
// readers apply; the stored object stays as written.
type ACLRule struct {
	Resource ACLResource `json:"resource"`
	// Operations are Kafka's words: Read, Write, Create, Delete, Alter, Describe, ClusterAction, AlterConfigs,
	// DescribeConfigs, IdempotentWrite, All.
	// +kubebuilder:validation:MaxItems=16
	Operations []string `json:"operations"`
	// Type is allow, the default, or deny.
	Type string `json:"type,omitempty"`
	// Host is the address the rule counts for; * by default.
	Host string `json:"host,omitempty"`
}

// ACLResource is what a rule is about.
type ACLResource struct {
	// Type is topic, group, cluster or transactionalId.
	Type string `json:"type"`
	// Name is ignored for cluster.
	Name string `json:"name,omitempty"`
	// PatternType is literal, the default, or prefix.
	PatternType string `json:"patternType,omitempty"`
}

// UserQuotas limits a user on each broker; nil fields set no limit. Strimzi's names producerByteRate and
// consumerByteRate are read as aliases of the first two.
type UserQuotas struct {
	// ProducerMaxByteRatePerBroker and ConsumerMaxByteRatePerBroker are bytes per second.
	ProducerMaxByteRatePerBroker *int64 `json:"producerMaxByteRatePerBroker,omitempty"`
	ConsumerMaxByteRatePerBroker *int64 `json:"consumerMaxByteRatePerBroker,omitempty"`
	// RequestPercentage is a share of one thread's time; above 100 for several.
	RequestPercentage *int32 `json:"requestPercentage,omitempty"`
	// ControllerMutationRate is partitions created or deleted per second.
	ControllerMutationRate *float64 `json:"controllerMutationRate,omitempty"`
}

// errQuotaSpelling means that a quota stands there under both of its names.
var errQuotaSpelling = errors.New("read quotas: a byte rate stands there under two names")

// UnmarshalJSON reads either name of the byte rates; both names of one are an error.
func (q *UserQuotas) UnmarshalJSON(data []byte) error {
	type plain UserQuotas
	var both struct {
		plain
		ProducerByteRate *int64 `json:"producerByteRate"`
		ConsumerByteRate *int64 `json:"consumerByteRate"`
	}
	if err := json.Unmarshal(data, &both); err != nil {
		return err
	}
	*q = UserQuotas(both.plain)
	var err error
	q.ProducerMaxByteRatePerBroker, err = oneOf(q.ProducerMaxByteRatePerBroker, both.ProducerByteRate)
	if err != nil {
		return err
	}
	q.ConsumerMaxByteRatePerBroker, err = oneOf(q.ConsumerMaxByteRatePerBroker, both.ConsumerByteRate)
	return err
}

func oneOf(own, alias *int64) (*int64, error) {
	switch {
	case alias == nil:
		return own, nil
	case own != nil:
		return nil, errQuotaSpelling
	default:
		return alias, nil
	}
}

// KafkaUserStatus is what became of the spec.
type KafkaUserStatus struct {
	// +listType=map
	// +listMapKey=type
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	// Username is the principal without its "User:".
	Username string `json:"username,omitempty"`
	// Secret is the name of the Secret that holds what the user needs to connect.
	Secret string `json:"secret,omitempty"`
}

// KafkaUserList is a list of users.
//
// +kubebuilder:object:root=true
type KafkaUserList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []KafkaUser `json:"items"`
}
