package api

import (
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/kaas-rs/kaas/kaas-storage/clusterdir"
)

// A process that another one has replaced sends its clients away to try again, instead of failing them for good.
func TestReplacedBrokerIsRetriable(t *testing.T) {
	err := fmt.Errorf("create topic orders: %w", clusterdir.ErrFenced)
	if code := codeOf(err); code != kerr.NotController.Code {
		t.Errorf("%v, want %v", kerr.ErrorForCode(code), kerr.NotController)
	}
}
