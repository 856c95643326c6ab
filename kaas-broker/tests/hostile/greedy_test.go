package hostile

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

// Clients that announce the largest request allowed and send little of it hold neither memory nor the place of others.
func TestAnnouncedRequestsThatNeverCome(t *testing.T) {
	broker := start(t, harness.Options{Mode: harness.Dev})
	watch(t, broker, 200*mib)
	runBeside(t, broker.Bootstrap())
	for range 20 {
		connection := dial(t, broker.Bootstrap())
		announced := binary.BigEndian.AppendUint32(nil, 100<<20)
		if _, err := connection.Write(append(announced, 0, 0, 0, 9, 0, 0)); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(time.Duration(pick(4, 20)) * time.Second)
}
