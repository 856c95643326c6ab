package v1alpha1_test

import (
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/kaas-rs/kaas/kaas-k8s/api/v1alpha1"
)

func Example() {
	manifest := `
apiVersion: kaas.rs/v1alpha1
kind: KafkaTopic
metadata: {name: orders}
spec:
  partitions: 3
  config: {retentionMs: 3600000, cleanup.policy: delete}
`
	var topic v1alpha1.KafkaTopic
	if err := yaml.Unmarshal([]byte(manifest), &topic); err != nil {
		fmt.Println(err)
		return
	}
	overrides, err := topic.Spec.Config.Overrides()
	fmt.Println(topic.TopicName(), topic.Spec.Partitions, overrides, err)
	// Output: orders 3 map[cleanup.policy:delete retention.ms:3600000] <nil>
}
