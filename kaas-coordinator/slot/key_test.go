package slot

import (
	"encoding/json"
	"testing"
)

// FuzzParseKey compares the two ways of reading a key, and reads again what is written.
func FuzzParseKey(f *testing.F) {
	for _, key := range []Key{
		OffsetKey("g", "t", 3), OffsetKey("", "", -1), PendingKey("é\"", 1<<62, "t", 1<<31-1), GroupKey("a\\b"), TransactionKey("x"), MarkerKey(-1),
	} {
		f.Add(key.appendJSON(nil))
	}
	f.Add([]byte(`{"kind":"offset","id":"g","topic":"t","partition":3000000000}`))
	f.Add([]byte(`{"kind":"offset","id":"g","topic":"t","partition":-}`))
	f.Add([]byte(`{"kind":"marker","producer_id":1}x`))
	f.Add([]byte(`{"kind":"offset","id":"g"`))
	f.Fuzz(func(t *testing.T, b []byte) {
		key, written := parseWritten(b)
		if written {
			var read jsonKey
			if err := json.Unmarshal(b, &read); err != nil {
				t.Fatalf("%s is no JSON: %v", b, err)
			}
			if key != (Key{Kind: key.Kind, ID: read.ID, Topic: read.Topic, Partition: read.Partition, ProducerID: read.ProducerID}) {
				t.Fatalf("%s was read as %+v and %+v", b, key, read)
			}
		}
		key, err := parseKey(b)
		if err != nil {
			return
		}
		again, err := parseKey(key.appendJSON(nil))
		if key.Kind == KindOffset && (err != nil || again != Key{Kind: key.Kind, ID: key.ID, Topic: key.Topic, Partition: key.Partition}) {
			t.Fatalf("%+v became %+v, %v", key, again, err)
		}
	})
}
