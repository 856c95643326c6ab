package codec_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/kaas-rs/kaas/kaas-codec"
)

// Bodies written by hand: what the guard takes and what it refuses.
func TestGuardLengthsAndTags(t *testing.T) {
	tagged := func(size int) string {
		length := binary.AppendUvarint(nil, uint64(size))
		return "\x01\x63" + string(length) + strings.Repeat("x", size)
	}
	const (
		fetch12 = "\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x01\x01"
		fetch15 = "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x01\x01"
		state   = "\x01\x01\x0d\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00\x06\x00"
	)
	cases := []struct {
		name         string
		key, version int16
		body         string
		refused      string // part of the reason, "" = accepted
	}{
		{"nullable string, any negative length is null", 22, 0, "\x80\x01\x00\x00\x00\x01", ""},
		{"nullable string, longer than the body", 22, 0, "\x7f\xff\x00\x00\x00\x01", "TransactionalId: ends early"},
		{"compact null", 22, 2, "\x00\x00\x00\x00\x01\x00", ""},
		{"compact string, longer than the body", 22, 2, "\x09\x00\x00\x00\x01\x00", "TransactionalId: ends early"},
		{"compact string above 16 bits", 22, 2, "\x81\x80\x02" + strings.Repeat("x", 1<<15) + "\x00\x00\x00\x01\x00", "longer than 32767"},
		{"compact string of 16 bits", 22, 2, "\x80\x80\x02" + strings.Repeat("x", 1<<15-1) + "\x00\x00\x00\x01\x00", ""},
		{"length of six bytes", 22, 2, "\x80\x80\x80\x80\x80\x00\x00\x00\x00\x01\x00", "above 32 bits"},
		{"length of 35 bits", 22, 2, "\xff\xff\xff\xff\x7f\x00\x00\x00\x01\x00", "above 32 bits"},
		{"length of 32 bits", 22, 2, "\xff\xff\xff\xff\x0f\x00\x00\x00\x01\x00", "longer than 32767"},

		{"null string that may not be", 20, 0, "\x00\x00\x00\x01\xff\xff\x00\x00\x00\x01", "TopicNames: null"},
		{"null array that may not be", 20, 0, "\xff\xff\xff\xff\x00\x00\x00\x01", "TopicNames: null"},
		{"compact null array that may not be", 20, 4, "\x00\x00\x00\x00\x01\x00", "TopicNames: null"},
		{"Metadata v0 null", 3, 0, "\xff\xff\xff\xff", "Topics: null"},
		{"Metadata v9 null name", 3, 9, "\x02\x00\x00\x00\x00\x00\x00", "Name: null"},
		{"Metadata v10 null name", 3, 10, "\x02" + strings.Repeat("\x00", 16) + "\x00\x00\x00\x00\x00\x00", ""},
		{"null records", 0, 0, "\x00\x01\x00\x00\x00\x01\x00\x00\x00\x01\x00\x01t\x00\x00\x00\x01\x00\x00\x00\x00\xff\xff\xff\xfe", ""},
		{"records longer than the body", 0, 0, "\x00\x01\x00\x00\x00\x01\x00\x00\x00\x01\x00\x01t\x00\x00\x00\x01\x00\x00\x00\x00\x7f\xff\xff\xff", "Records: ends early"},

		{"count above the body", 20, 0, "\x00\x00\x00\x03\x00\x00\x00\x00\x01", "more elements"},
		{"largest count", 20, 0, "\x7f\xff\xff\xff\x00\x00\x00\x01", "more elements"},
		{"largest compact count", 20, 4, "\xff\xff\xff\xff\x0f\x00\x00\x00\x01\x00", "more elements"},

		{"each record needs a tag buffer", 75, 0, "\x05\x01\x00\x01\x00\x01\x00\x01", "Topics: more elements"},

		{"cursor absent", 75, 0, "\x01\x00\x00\x00\x01\xff\x00", ""},
		{"cursor present", 75, 0, "\x01\x00\x00\x00\x01\x01\x02t\x00\x00\x00\x01\x00\x00", ""},
		{"cursor with another negative byte", 75, 0, "\x01\x00\x00\x00\x01\xfe\x00", "Cursor: absent"},

		{"JoinGroup null metadata", 11, 0, "\x00\x01g\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00\x01p\xff\xff\xff\xff", "Protocols: Metadata: null"},
		{"JoinGroup empty metadata", 11, 0, "\x00\x01g\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00\x01p\x00\x00\x00\x00", ""},
		{"OffsetFetch v1 null topics", 9, 1, "\x00\x01g\xff\xff\xff\xff", "Topics: null"},
		{"OffsetFetch v2 null topics", 9, 2, "\x00\x01g\xff\xff\xff\xff", ""},
		{"OffsetFetch v8 null groups", 9, 8, "\x00\x00\x00", "Groups: null"},
		{"OffsetFetch v8 null topics of a group", 9, 8, "\x02\x02g\x00\x00\x00\x00", ""},
		{"FindCoordinator v4 null key", 10, 4, "\x00\x02\x00\x00", "CoordinatorKeys: null"},
		{"LeaveGroup null member id", 13, 3, "\x00\x01g\x00\x00\x00\x01\xff\xff\xff\xff", "Members: MemberId: null"},
		{"SyncGroup v5 null protocol", 14, 5, "\x02g\x00\x00\x00\x01\x02m\x00\x00\x00\x01\x00", ""},
		{"SaslHandshake null mechanism", 17, 0, "\xff\xff", "Mechanism: null"},
		{"SaslAuthenticate null credentials", 36, 0, "\xff\xff\xff\xff", "AuthBytes: null"},
		{"SaslAuthenticate credentials longer than the body", 36, 0, "\x7f\xff\xff\xffx", "AuthBytes: ends early"},
		{"SaslAuthenticate compact credentials longer than the body", 36, 2, "\xff\xff\xff\xff\x0fx\x00", "AuthBytes: ends early"},
		{"TxnOffsetCommit null metadata", 28, 0, "\x00\x01t\x00\x01g\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x01\x00\x01t\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\xff\xff", ""},
		{"DescribeAcls null filters", 29, 0, "\x01\xff\xff\xff\xff\xff\xff\x01\x01", ""},
		{"CreateAcls null principal", 30, 0, "\x00\x00\x00\x01\x02\x00\x01t\xff\xff\x00\x01*\x03\x03", "Creations: Principal: null"},
		{"DescribeLogDirs null topics", 35, 0, "\xff\xff\xff\xff", ""},
		{"AlterReplicaLogDirs null directories", 34, 0, "\xff\xff\xff\xff", "Dirs: null"},
		{"ElectLeaders null topics", 43, 0, "\xff\xff\xff\xff\x00\x00\x00\x01", ""},
		{"AlterPartitionReassignments null replicas", 45, 0, "\x00\x00\x00\x01\x02\x02t\x02\x00\x00\x00\x00\x00\x00\x00\x00", ""},
		{"AlterPartitionReassignments null topics", 45, 0, "\x00\x00\x00\x01\x00\x00", "Topics: null"},
		{"AlterUserScramCredentials null salt", 51, 0, "\x01\x02\x02u\x01\x00\x00\x10\x00\x00\x02p\x00\x00", "Upsertions: Salt: null"},

		{"unknown tag", 60, 0, "\x00" + tagged(3), ""},
		{"largest tag", 60, 0, "\x00" + tagged(128<<10), ""},
		{"tag too large", 60, 0, "\x00" + tagged(128<<10+1), "tagged field longer"},
		{"tag longer than the body", 60, 0, "\x00\x01\x63\x20x", "ends early"},
		{"tag count without tags", 60, 0, "\x00\xff\xff\xff\xff\x07", "ends early"},
		{"negative tag count", 60, 0, "\x00\xff\xff\xff\xff\x0f", "tag count above 31 bits"},
		{"repeated and unsorted unknown tags", 60, 0, "\x00\x03\x63\x01a\x07\x01b\x63\x01c", ""},

		{"Fetch without tags", 1, 12, fetch12 + "\x00", ""},
		{"Fetch cluster id", 1, 12, fetch12 + "\x01\x00\x03\x03id", ""},
		{"Fetch null cluster id", 1, 12, fetch12 + "\x01\x00\x01\x00", ""},
		{"Fetch cluster id beyond its tag", 1, 12, fetch12 + "\x01\x00\x02\x03id", "tagged field ClusterId: ends early"},
		{"Fetch cluster id shorter than its tag", 1, 12, fetch12 + "\x01\x00\x04\x03idx", "tagged field ClusterId: longer"},
		{"Fetch replica state", 1, 15, fetch15 + state, ""},
		{"Fetch replica state before its version", 1, 12, fetch12 + state, "tagged field ReplicaState: not of this version"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := codec.DecodeRequest(codec.RequestHeader{Key: c.key, Version: c.version}, []byte(c.body))
			switch {
			case c.refused == "" && err != nil:
				t.Errorf("refused: %v", err)
			case c.refused != "" && (!errors.Is(err, codec.ErrMalformed) || !strings.Contains(err.Error(), c.refused)):
				t.Errorf("got %v, want %q", err, c.refused)
			}
		})
	}
}

// allocated returns the bytes that run allocates. Nothing else may run beside it.
func allocated(run func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	run()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// A request of a few hundred bytes whose lengths and counts were replaced by
// huge ones must not cost more than its size.
func TestGuardHugeClaimsAllocateLittle(t *testing.T) {
	claims := [][]byte{
		{0x7f, 0xff, 0xff, 0xff},
		{0x05, 0xf5, 0xe1, 0x00},
		{0x00, 0x00, 0xff, 0xff},
		{0xff, 0xff, 0xff, 0xff, 0x07},
		{0x80, 0x80, 0x80, 0x30},
		{0xff, 0x7f},
	}
	eachVersion(t, func(t *testing.T, h codec.RequestHeader, random *rand.Rand) {
		body := sample(random, h)
		for at := range body {
			for _, claim := range claims {
				hostile := append(bytes.Clone(body[:at]), claim...)
				hostile = append(hostile, body[min(len(body), at+len(claim)):]...)
				spent := allocated(func() { _, _ = codec.DecodeRequest(h, hostile) })
				if limit := uint64(300 << 10); spent > limit {
					t.Fatalf("%x: %d bytes allocated", hostile, spent)
				}
			}
		}
	})
}

// Counts that do fit, of the smallest elements, are what costs most for its size.
// Versions in between have no field that none of these has.
func TestGuardBoundsDensestRequests(t *testing.T) {
	if testing.Short() {
		t.Skip("measures memory, of which the race detector takes more")
	}
	const size = 128 << 10
	eachVersion(t, func(t *testing.T, h codec.RequestHeader, random *rand.Rand) {
		spec, _ := codec.Lookup(h.Key)
		if h.Version != spec.MinVersion && h.Version != spec.FlexibleFrom && h.Version != spec.MaxVersion {
			return
		}
		body := sample(random, h)
		for _, filler := range []byte{0x00, 0x01, 0x02} {
			for at := 0; at <= len(body); at += 1 + len(body)/12 {
				for _, count := range [][]byte{
					{},
					binary.BigEndian.AppendUint32(nil, size/20), binary.BigEndian.AppendUint32(nil, size/4),
					binary.AppendUvarint(nil, size/20), binary.AppendUvarint(nil, size/4),
				} {
					hostile := append(bytes.Clone(body[:at]), count...)
					hostile = append(hostile, bytes.Repeat([]byte{filler}, size)...)
					spent := allocated(func() { _, _ = codec.DecodeRequest(h, hostile) })
					if limit := uint64(20*len(hostile) + 300<<10); spent > limit {
						t.Fatalf("count %x at %d, filled with %x: %d bytes allocated for %d", count, at, filler, spent, len(hostile))
					}
				}
			}
		}
	})
}

// The smallest elements are refused by the memory they would take, in numbers
// where honest requests with short names are not.
func TestGuardManyTopics(t *testing.T) {
	const count = 300_000
	topics := func(element func(i int) string) []byte {
		body := binary.AppendUvarint(nil, count+1)
		for i := range count {
			body = append(body, element(i)...)
		}
		return append(body, 0, 0, 0, 0) // three booleans and a tag buffer
	}
	cases := []struct {
		name    string
		element func(i int) string
		refused bool
	}{
		{"empty names", func(int) string { return "\x01\x00" }, true},
		{"names of one letter", func(int) string { return "\x02t\x00" }, true},
		{"names of seven letters", func(i int) string { return fmt.Sprintf("\x08t%06d\x00", i) }, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			body := topics(c.element)
			var err error
			spent := allocated(func() { _, err = codec.DecodeRequest(codec.RequestHeader{Key: 3, Version: 9}, body) })
			if refused := errors.Is(err, codec.ErrMalformed); refused != c.refused || refused && spent > 10_000 {
				t.Errorf("%d bytes allocated for %d: %v", spent, len(body), err)
			}
		})
	}
}

// Tags cost more than anything else for their two bytes.
func TestGuardBoundsUnknownTags(t *testing.T) {
	const count = 100_000
	body := binary.AppendUvarint([]byte{0}, count)
	for tag := range count {
		body = binary.AppendUvarint(body, uint64(tag+unknownTag))
		body = append(body, 0)
	}
	var err error
	spent := allocated(func() { _, err = codec.DecodeRequest(codec.RequestHeader{Key: 60}, body) })
	if !errors.Is(err, codec.ErrMalformed) || spent > 1<<20 {
		t.Errorf("%d bytes allocated for %d: %v", spent, len(body), err)
	}
}
