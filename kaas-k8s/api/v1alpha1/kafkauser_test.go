package v1alpha1_test

import (
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kaas-rs/kaas/kaas-k8s/api/v1alpha1"
)

const fullUser = `apiVersion: kaas.rs/v1alpha1
kind: KafkaUser
metadata:
  name: billing
spec:
  authentication:
    certificateRef:
      name: billing-cert
    password:
      key: password
      name: billing-secret
    scram:
      iterations: 8192
      salt: c2FsdA==
      serverKey: c2VydmVy
      storedKey: c3RvcmVk
    type: scram-sha-512
  authorization:
    acls:
    - host: 10.0.0.1
      operations:
      - Read
      - Describe
      resource:
        name: orders
        patternType: prefix
        type: topic
      type: deny
    type: simple
  quotas:
    consumerMaxByteRatePerBroker: 2000
    controllerMutationRate: 0.5
    producerMaxByteRatePerBroker: 1000
    requestPercentage: 55
status:
  observedGeneration: 2
  secret: billing-kafka-credentials
  username: billing
`

func TestUserKeepsItsManifest(t *testing.T) {
	user := new(v1alpha1.KafkaUser)
	if err := yaml.UnmarshalStrict([]byte(fullUser), user); err != nil {
		t.Fatal(err)
	}
	written, err := yaml.Marshal(user)
	if err != nil {
		t.Fatal(err)
	}
	if string(written) != fullUser {
		t.Errorf("written:\n%s\nwant:\n%s", written, fullUser)
	}
}

func TestUserAliases(t *testing.T) {
	const manifest = `spec:
  authentication:
    type: scram-sha-512
    password: {valueFrom: {secretKeyRef: {name: s, key: k}}}
  quotas: {producerByteRate: 10, consumerByteRate: 20, requestPercentage: 3}
`
	user := new(v1alpha1.KafkaUser)
	if err := yaml.Unmarshal([]byte(manifest), user); err != nil {
		t.Fatal(err)
	}
	if got := user.Spec.Authentication.Password; got == nil || *got != (v1alpha1.UserPassword{Name: "s", Key: "k"}) {
		t.Errorf("password %+v", got)
	}
	quotas := user.Spec.Quotas
	if quotas == nil || *quotas.ProducerMaxByteRatePerBroker != 10 || *quotas.ConsumerMaxByteRatePerBroker != 20 || *quotas.RequestPercentage != 3 {
		t.Errorf("quotas %+v", quotas)
	}
}

func TestUserRefusesTwoSpellings(t *testing.T) {
	for name, spec := range map[string]string{
		"producer quota": "quotas: {producerByteRate: 1, producerMaxByteRatePerBroker: 1}",
		"consumer quota": "quotas: {consumerByteRate: 1, consumerMaxByteRatePerBroker: 1}",
		"password":       "authentication: {type: scram-sha-512, password: {name: a, valueFrom: {secretKeyRef: {name: b, key: c}}}}",
	} {
		t.Run(name, func(t *testing.T) {
			if err := yaml.Unmarshal([]byte("spec: {"+spec+"}"), new(v1alpha1.KafkaUser)); err == nil {
				t.Error("was read")
			}
		})
	}
}
