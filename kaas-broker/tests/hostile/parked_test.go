package hostile

import (
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

// parkedBound is what joins may take that wait: 128 MiB of what members offer, the frames that it came in, and half as much again in garbage.
const parkedBound = 500 * mib

// Members of the largest size, each in a group of its own, that wait for others until the end of the test: they are kept as far as there is room for
// such, and keep neither the requests nor the groups of others out.
func TestJoinsThatWait(t *testing.T) {
	broker := start(t, harness.Options{Mode: harness.Dev, Overrides: map[string]string{"group.initial.rebalance.delay.ms": "600000"}})
	watch(t, broker, parkedBound)
	runBeside(t, broker.Bootstrap())
	waiting, refused := 0, 0
	for number := range 40 {
		connection := dial(t, broker.Bootstrap())
		response, err := connection.call(offering(fmt.Sprintf("large-%d", number), 15*mib), 300*time.Millisecond)
		switch {
		case isTimeout(err):
			waiting++
		case err != nil:
			t.Fatalf("join %d: %v", number, err)
		case response.(*kmsg.JoinGroupResponse).ErrorCode != kerr.CoordinatorNotAvailable.Code:
			t.Fatalf("join %d: %v", number, kerr.ErrorForCode(response.(*kmsg.JoinGroupResponse).ErrorCode))
		default:
			refused++
		}
	}
	t.Logf("%d joins wait, %d are refused", waiting, refused)
	if waiting != 8 || refused != 32 {
		t.Errorf("%d joins of 15 MiB wait and %d are refused, want 8 within 128 MiB and 32", waiting, refused)
	}
	connection := dial(t, broker.Bootstrap())
	if _, err := connection.call(offering("usual", 1000), 300*time.Millisecond); !isTimeout(err) {
		t.Errorf("the join of a usual member does not wait for others: %v", err)
	}
	asking := dial(t, broker.Bootstrap())
	wide := make([]string, 50_000)
	for i := range wide {
		wide[i] = fmt.Sprintf("a-topic-that-does-not-exist-%d", i)
	}
	began := time.Now()
	if _, err := asking.call(metadataRequest(wide...), 30*time.Second); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("a request of 1.5 MiB took %v", took)
	}
}

// offering is the join of a new member, at a version that takes it at once.
func offering(group string, size int) *kmsg.JoinGroupRequest {
	request := kmsg.NewPtrJoinGroupRequest()
	request.Version = 3
	request.Group, request.ProtocolType = group, "consumer"
	request.SessionTimeoutMillis, request.RebalanceTimeoutMillis = 600_000, 600_000
	request.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: make([]byte, size)}}
	return request
}
