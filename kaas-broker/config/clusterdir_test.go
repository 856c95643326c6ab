package config_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/kaas-rs/kaas/kaas-broker/config"
)

// The cluster directory may lie anywhere but where a topic's directory could.
func TestClusterDirectoryIsNotAmongTopics(t *testing.T) {
	for name, test := range map[string]struct {
		clusterDir string
		refused    bool
	}{
		"the data directory itself":         {"/d", true},
		"the same, written otherwise":       {"/d/../d/.", true},
		"a topic's name":                    {"/d/orders", true},
		"below a topic's name":              {"/d/orders/x", true},
		"the default":                       {"/d/__cluster", false},
		"below the default":                 {"/d/__cluster/x", false},
		"beside":                            {"/c", false},
		"beside, with the name as a prefix": {"/data", false},
		"above":                             {"/", false},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := config.Load(input([]string{"--data-dir", "/d", "--cluster-dir", test.clusterDir}, nil, ""))
			switch {
			case test.refused && (err == nil || !strings.Contains(err.Error(), "kaas.cluster.dir")):
				t.Errorf("error %v", err)
			case !test.refused && (err != nil || c.ClusterDir != filepath.Clean(test.clusterDir)):
				t.Errorf("%v, error %v", c, err)
			}
		})
	}
}
