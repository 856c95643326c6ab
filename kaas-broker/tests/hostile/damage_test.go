package hostile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

// damageBound is what the broker may take beside damaged requests: they are small, and so must be what becomes of them.
const damageBound = 300 * mib

// Every truncation and many mutations of valid requests, of every key and version that the broker has: each is answered, or its connection closed.
func TestDamagedRequests(t *testing.T) {
	broker := start(t, harness.Options{
		Mode: harness.Dev, Overrides: map[string]string{"log.message.timestamp.after.max.ms": "3600000"}, Decodes: harness.ForcedSites(),
	})
	watch(t, broker, int64(pick(1, 2))*damageBound) // in the long form the normal records alone take a third of it
	runBeside(t, broker.Bootstrap())
	createTopic(t, broker.Bootstrap(), victims[0], 3)
	createTopic(t, broker.Bootstrap(), victims[1], 1, "cleanup.policy", "compact", "compression.type", "gzip")
	from := seed(t)
	frames := make(chan damagedFrame)
	var work sync.WaitGroup
	var count, answered atomic.Int64
	for range 4 {
		work.Go(func() {
			sender := &sender{address: broker.Bootstrap()}
			defer sender.hangUp()
			for frame := range frames {
				count.Add(1)
				reached, err := sender.try(frame.bytes)
				if err != nil {
					t.Errorf("%s %x: %v", frame.name, frame.bytes, err)
				}
				if reached {
					answered.Add(1)
				}
			}
		})
	}
	eachDamaged(t, broker.Bootstrap(), from, func(frame damagedFrame) { frames <- frame })
	close(frames)
	work.Wait()
	t.Logf("%d damaged requests, %d of their connections went on", count.Load(), answered.Load())
	if log := broker.Log(); strings.Contains(log, "panicked") {
		t.Errorf("a handler has panicked:\n%s", log)
	}
}

type damagedFrame struct {
	name  string
	bytes []byte
}

// eachDamaged makes every truncation, and mutations, of requests of every key and version.
func eachDamaged(t *testing.T, address string, from uint64, yield func(damagedFrame)) {
	t.Helper()
	kafka := golden(t)
	for _, row := range advertised(t, address) {
		for version := row.MinVersion; version <= row.MaxVersion; version++ {
			random := rand.New(rand.NewPCG(from, uint64(row.ApiKey)<<16|uint64(version)))
			name := fmt.Sprintf("key %d version %d", row.ApiKey, version)
			valid := kafka[[2]int16{row.ApiKey, version}]
			if len(valid) == 0 {
				t.Errorf("%s: no golden request", name)
			}
			valid = valid[:min(len(valid), pick(1, 10))]
			for range pick(2, 10) {
				request := filled(random, row.ApiKey, version, records(t, batch.Compression(random.IntN(5))))
				valid = append(valid, encode(request, 1)[4:])
			}
			for _, frame := range valid {
				for cut := 1; cut <= len(frame); cut += cutStep {
					yield(damagedFrame{fmt.Sprintf("%s cut at %d", name, cut), frame[:cut]})
				}
				for range pick(20, 300) {
					yield(damagedFrame{name + " mutated", mutated(random, frame)})
				}
			}
		}
	}
}

// hostile numbers for lengths and counts, as they are on the wire.
var numbers = [][]byte{
	{0x7f, 0xff, 0xff, 0xff},
	{0x80, 0, 0, 0},
	{0xff, 0xff, 0xff, 0xff},
	{0xff, 0xff, 0xff, 0xfe},
	{0, 0xff, 0xff, 0xff},
	{0x7f, 0xff},
	{0x80, 0},
	{0xff, 0xfe},
	{0xff, 0xff, 0xff, 0xff, 0x0f},
	{0xff, 0xff, 0xff, 0xff, 0x07},
	{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
	{0x80, 0x80, 0x80, 0x80, 0},
	{0},
	{1},
}

// mutated changes bits and bytes, writes hostile numbers over others, leaves out, repeats and adds some.
func mutated(random *rand.Rand, frame []byte) []byte {
	damaged := bytes.Clone(frame)
	for range 1 + random.IntN(3) {
		at := random.IntN(len(damaged))
		switch random.IntN(6) {
		case 0:
			damaged[at] ^= 1 << random.IntN(8)
		case 1:
			damaged[at] = byte(random.Uint32())
		case 2, 3:
			copy(damaged[at:], numbers[random.IntN(len(numbers))])
		case 4:
			end := min(len(damaged), at+1+random.IntN(8))
			if end-at < len(damaged) {
				damaged = append(damaged[:at:at], damaged[end:]...)
			}
		default:
			end := min(len(damaged), at+1+random.IntN(16))
			damaged = append(damaged[:end:end], damaged[at:]...)
		}
	}
	return damaged
}

// advertised is what ApiVersions says.
func advertised(t *testing.T, address string) []kmsg.ApiVersionsResponseApiKey {
	t.Helper()
	response, err := dial(t, address).call(kmsg.NewPtrApiVersionsRequest(), 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	return response.(*kmsg.ApiVersionsResponse).ApiKeys
}

// sender sends frames on one connection for as long as the broker leaves it open.
type sender struct {
	address    string
	connection *raw
}

// fence is the correlation id of the request behind each frame, whose answer says that the frame was dealt with.
const fence = 0x5eed5eed

// frameTime is how long a frame and the request behind it may take.
const frameTime = 20 * time.Second

// try sends one frame and reports whether the connection has survived it. The error is that of a broker that neither answers nor closes.
func (s *sender) try(frame []byte) (reached bool, err error) {
	if s.connection == nil {
		if s.connection, err = connect(s.address); err != nil {
			return false, err
		}
	}
	message := append(sized(frame), encode(kmsg.NewPtrApiVersionsRequest(), fence)...)
	if _, err := s.connection.Write(message); err != nil {
		s.hangUp()
		return false, nil //nolint:nilerr // closed already, by what came before
	}
	for {
		patience := frameTime
		if mayWait(frame) {
			patience = 2 * time.Second
		}
		answer, err := s.connection.receive(patience)
		switch {
		case isTimeout(err) && mayWait(frame):
			s.hangUp()
			return false, nil
		case isTimeout(err):
			s.hangUp()
			return false, fmt.Errorf("neither answered nor closed within %v", frameTime)
		case err != nil && (errors.Is(err, io.ErrUnexpectedEOF) || len(answer) > 0):
			s.hangUp()
			return false, fmt.Errorf("a response ends early: %w", err)
		case err != nil:
			s.hangUp()
			return false, nil //nolint:nilerr // closed, which is an answer
		case len(answer) < 4:
			s.hangUp()
			return false, fmt.Errorf("a response of %x", answer)
		case binary.BigEndian.Uint32(answer) == fence:
			return true, nil
		}
	}
}

// mayWait reports whether the frame is a Fetch: damage can make it one that waits for weeks, until its client hangs up.
func mayWait(frame []byte) bool { return len(frame) > 1 && frame[0] == 0 && frame[1] == 1 }

func (s *sender) hangUp() {
	if s.connection != nil {
		s.connection.Close()
		s.connection = nil
	}
}
