package txn_test

import (
	"bytes"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/kaas-rs/kaas/kaas-coordinator/txn"
	"github.com/kaas-rs/kaas/kaas-storage"
)

func TestRecord(t *testing.T) {
	id := uuid.MustParse("6ba7b810-9dad-11d1-80b4-00c04fd430c8")
	other := uuid.MustParse("7ba7b810-9dad-11d1-80b4-00c04fd430c8")
	prepared := in(txn.PrepareCommit)
	prepared.Partitions = []txn.Partition{
		{Topic: "t", TopicID: id}, {Topic: "t", TopicID: id, Partition: 3}, {Topic: "t", TopicID: other, Partition: 3}, {Topic: "u", TopicID: id},
	}
	prepared.Groups = []string{"g", "ü\""}
	fresh := txn.New().Register(txn.Registration{Timeout: time.Minute, Expected: txn.NoProducer()}, 9, at()).Next
	cases := []struct {
		name string
		is   txn.Transaction
		text string
	}{
		{"empty", fresh, `{"version":1,"producer_id":9,"epoch":0,"last_producer_id":-1,"last_epoch":-1,"timeout_ms":60000,"state":"Empty","start":-1,"updated":2000}`},
		{"prepared", prepared, `{"version":1,"producer_id":7,"epoch":5,"last_producer_id":7,"last_epoch":4,"timeout_ms":1000,"state":"PrepareCommit",` +
			`"start":500,"updated":600,"identity":33,"partitions":[` +
			`{"topic":"t","topic_id":"6ba7b810-9dad-11d1-80b4-00c04fd430c8","partitions":[0,3]},` +
			`{"topic":"t","topic_id":"7ba7b810-9dad-11d1-80b4-00c04fd430c8","partitions":[3]},` +
			`{"topic":"u","topic_id":"6ba7b810-9dad-11d1-80b4-00c04fd430c8","partitions":[0]}],"groups":["g","ü\""]}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			text, err := c.is.Encode()
			if err != nil || string(text) != c.text {
				t.Errorf("wrote %s, %v\nwant  %s", text, err, c.text)
			}
			got, err := txn.Decode([]byte(c.text))
			if err != nil || !reflect.DeepEqual(got, c.is) {
				t.Errorf("read %+v, %v\nwant %+v", got, err, c.is)
			}
		})
	}
	for _, state := range []txn.State{txn.Empty, txn.Ongoing, txn.PrepareCommit, txn.PrepareAbort, txn.CompleteCommit, txn.CompleteAbort} {
		text, err := in(state).Encode()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := txn.Decode(text); err != nil || !reflect.DeepEqual(got, in(state)) {
			t.Errorf("%v became %+v, %v", state, got, err)
		}
	}
}

func TestRecordsThatAreRefused(t *testing.T) {
	for name, text := range map[string]string{
		"half":             `{"version":1,"producer_id":`,
		"no producer":      `{"version":1,"producer_id":-1,"epoch":0,"state":"Empty"}`,
		"no epoch":         `{"version":1,"producer_id":1,"epoch":-1,"state":"Empty"}`,
		"epoch too large":  `{"version":1,"producer_id":1,"epoch":32768,"state":"Empty"}`,
		"unknown state":    `{"version":1,"producer_id":1,"epoch":0,"state":"Dead"}`,
		"no identity":      `{"version":1,"producer_id":1,"epoch":0,"state":"PrepareAbort"}`,
		"timeout too long": `{"version":1,"producer_id":1,"epoch":0,"timeout_ms":9223372036855,"state":"Empty"}`,
		"negative timeout": `{"version":1,"producer_id":1,"epoch":0,"timeout_ms":-1,"state":"Empty"}`,
	} {
		if got, err := txn.Decode([]byte(text)); err == nil {
			t.Errorf("%s: read %+v", name, got)
		}
	}
	if _, err := txn.Decode([]byte(`{"version":2,"producer_id":1}`)); !errors.Is(err, storage.ErrFutureVersion) {
		t.Errorf("version 2: %v", err)
	}
	if _, err := txn.DecodeMark([]byte(`{"version":2}`)); !errors.Is(err, storage.ErrFutureVersion) {
		t.Errorf("marker of version 2: %v", err)
	}
	if _, err := txn.DecodeMark([]byte(`{"version":`)); err == nil {
		t.Error("half a marker was read")
	}
}

func TestMark(t *testing.T) {
	is := txn.Mark{Identity: 815, Epoch: 3, Commit: true, Time: 600}
	text, err := is.Encode()
	if want := `{"version":1,"identity":815,"epoch":3,"commit":true,"time":600}`; err != nil || string(text) != want {
		t.Errorf("wrote %s, %v", text, err)
	}
	if got, err := txn.DecodeMark(text); err != nil || got != is {
		t.Errorf("read %+v, %v", got, err)
	}
	for ms, want := range map[int64]bool{1599: false, 1600: true} {
		if is.IsExpired(time.UnixMilli(ms), time.Second) != want {
			t.Errorf("at %d", ms)
		}
	}
}

func TestStateNames(t *testing.T) {
	for s := txn.Empty; s <= txn.CompleteAbort; s++ {
		if got, known := txn.ParseState(s.String()); !known || got != s || !txn.IsStateName(s.String()) {
			t.Errorf("%v became %v, %v", s, got, known)
		}
	}
	for name, kept := range map[string]bool{"Dead": false, "PrepareEpochFence": false} {
		if _, got := txn.ParseState(name); got != kept || !txn.IsStateName(name) {
			t.Errorf("%s", name)
		}
	}
	if txn.IsStateName("ongoing") || txn.State(99).String() != "Unknown" {
		t.Error("names that are none")
	}
}

func FuzzDecode(f *testing.F) {
	for _, state := range []txn.State{txn.Empty, txn.Ongoing, txn.PrepareCommit, txn.CompleteAbort} {
		text, err := in(state).Encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"version":1,"identity":815,"epoch":3,"commit":true,"time":600}`))
	f.Fuzz(func(t *testing.T, value []byte) {
		if m, err := txn.DecodeMark(value); err == nil {
			if again, err := m.Encode(); err != nil || !isMark(again, m) {
				t.Errorf("%+v became %s, %v", m, again, err)
			}
		}
		read, err := txn.Decode(value)
		if err != nil {
			return
		}
		text, err := read.Encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := txn.Decode(text)
		if err != nil {
			t.Fatalf("%s was written but is not read: %v", text, err)
		}
		twice, err := again.Encode()
		if err != nil || !bytes.Equal(text, twice) {
			t.Errorf("%s became %s, %v", text, twice, err)
		}
	})
}

func isMark(text []byte, want txn.Mark) bool {
	got, err := txn.DecodeMark(text)
	return err == nil && got == want
}
