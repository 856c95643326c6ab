package hostile

import (
	"encoding/binary"
	"fmt"
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

// pipelinedBound is what producers take that send as fast as they can: 48 MiB of requests, in frames with a quarter more room at most, and half as much
// again in garbage.
const pipelinedBound = 48 * mib * 5 / 4 * 3 / 2

// Producers that send more and more without waiting for an answer, far more of them than what the broker holds, are read as fast as the disk takes their
// records.
func TestProducersThatNeverPause(t *testing.T) {
	broker := start(t, harness.Options{Mode: harness.Single})
	createTopic(t, broker.Bootstrap(), "flooded", 1)
	made := bomb(t, 0, 1000_000, 1)
	watch(t, broker, pipelinedBound)
	runBeside(t, broker.Bootstrap())
	requests := pick(30, 300)
	together(t, 20, func(int) error {
		connection, err := connect(broker.Bootstrap())
		if err != nil {
			return err
		}
		defer connection.Close()
		go func() {
			for range requests {
				if connection.send(produceRequest(8, "flooded", -1, made)) != nil {
					return
				}
			}
		}()
		for number := range requests {
			answer, err := connection.receive(60 * time.Second)
			if err != nil {
				return fmt.Errorf("answer %d: %w", number, err)
			}
			if got := binary.BigEndian.Uint32(answer); got != uint32(number+1) {
				return fmt.Errorf("answer %d is to request %d", number+1, got)
			}
		}
		return nil
	})
}
