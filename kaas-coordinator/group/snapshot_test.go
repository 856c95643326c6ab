package group_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/kaas-rs/kaas/kaas-coordinator/group"
	"github.com/kaas-rs/kaas/kaas-storage"
)

// stable returns a stable group of one consumer with this metadata.
func stable(t *testing.T, metadata []byte) *group.Machine {
	t.Helper()
	c := group.DefaultConfig()
	c.InitialRebalanceDelay = 0
	m := group.NewMachine(c)
	m.Join(1, group.JoinRequest{
		NewMemberID: "m", ProtocolType: "consumer", Protocols: []group.Protocol{{Name: "range", Metadata: metadata}},
		SessionTimeout: 10 * time.Second, RebalanceTimeout: time.Minute,
	})
	m.Expired(group.Timer{Kind: group.JoinTimer})
	m.Sync(2, group.SyncRequest{Identity: group.Identity{MemberID: "m", Generation: 1}})
	if m.State() != group.Stable {
		t.Fatalf("group is %v", m.State())
	}
	return m
}

func TestTopicsOfConsumers(t *testing.T) {
	cases := []struct {
		name     string
		metadata []byte
		topics   []string
		known    bool
	}{
		{"two topics and more behind", []byte("\x00\x03\x00\x00\x00\x02\x00\x01a\x00\x02bc\x00\x00\x00\x00\xff\xff\xff\xff"), []string{"a", "bc"}, true},
		{"none", []byte("\x00\x00\x00\x00\x00\x00"), nil, true},
		{"null", []byte("\x00\x00\xff\xff\xff\xff"), nil, true},
		{"empty", nil, nil, false},
		{"negative version", []byte("\xff\xff\x00\x00\x00\x00"), nil, false},
		{"cut in a name", []byte("\x00\x00\x00\x00\x00\x01\x00\x09a"), nil, false},
		{"cut before a name", []byte("\x00\x00\x7f\xff\xff\xff\x00"), nil, false},
		{"negative length", []byte("\x00\x00\x00\x00\x00\x01\xff\xff"), nil, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := stable(t, c.metadata)
			topics, known := m.Topics()
			if !reflect.DeepEqual(topics, c.topics) || known != c.known {
				t.Errorf("got %v, %v", topics, known)
			}
			for _, topic := range c.topics {
				if !m.Subscribes(topic) {
					t.Errorf("not subscribed to %s", topic)
				}
			}
			if m.Subscribes("other") == c.known {
				t.Error("wrong about a topic that is not named")
			}
		})
	}
}

func FuzzTopics(f *testing.F) {
	f.Add([]byte("\x00\x03\x00\x00\x00\x02\x00\x01a\x00\x02bc"))
	f.Fuzz(func(t *testing.T, metadata []byte) { stable(t, metadata).Topics() })
}

func FuzzDecodeSnapshot(f *testing.F) {
	f.Add([]byte(`{"version":1,"protocol_type":"consumer","generation":3,"protocol":"range","leader":"m","since":1,"members":[{"member_id":"m","instance_id":"i","protocols":[{"name":"range","metadata":"AAA="}],"assignment":"AA=="}]}`))
	f.Add([]byte(`{"version":1,"leader":"nobody","members":[{"member_id":"m"},{"member_id":"m"}]}`))
	f.Fuzz(func(_ *testing.T, value []byte) {
		s, err := group.DecodeSnapshot(value)
		if err != nil {
			return
		}
		m, _ := group.Restore(group.DefaultConfig(), s)
		m.Describe()
		m.Leave([]group.LeaveRequest{{MemberID: "m"}})
		m.Kill(group.ErrNotAvailable)
	})
}

func TestSnapshotOfALaterVersion(t *testing.T) {
	if _, err := group.DecodeSnapshot([]byte(`{"version":2}`)); !errors.Is(err, storage.ErrFutureVersion) {
		t.Errorf("got %v", err)
	}
	if _, err := group.DecodeSnapshot([]byte(`{`)); err == nil {
		t.Error("half a value was read")
	}
}
