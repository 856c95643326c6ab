package batch_test

import (
	"errors"
	"testing"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

func TestMarkerRoundTrip(t *testing.T) {
	cases := []struct {
		name   string
		marker batch.Marker
		value  int
	}{
		{"commit", batch.Marker{Commit: true, CoordinatorEpoch: 4}, 6},
		{"abort", batch.Marker{CoordinatorEpoch: 1 << 30}, 6},
		{"with identity", batch.Marker{Commit: true, CoordinatorEpoch: 4, Identity: 1 << 60, HasIdentity: true}, 14},
		{"with identity 0", batch.Marker{HasIdentity: true}, 14},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b, err := batch.NewMarkerBatch(c.marker, 4711, 3, 1700000000000)
			if err != nil {
				t.Fatal(err)
			}
			if !b.Control() || !b.Transactional() || b.ProducerID() != 4711 || b.ProducerEpoch() != 3 || b.BaseSequence() != -1 {
				t.Errorf("header: control %v, transactional %v", b.Control(), b.Transactional())
			}
			if record := collect(t, b)[0]; len(record.Key) != 4 || len(record.Value) != c.value {
				t.Errorf("key %x, value %x", record.Key, record.Value)
			}
			var wires batch.Tripwires
			got, ok, err := b.Marker(&wires)
			if err != nil || !ok || got != c.marker {
				t.Errorf("got %+v, %v, %v", got, ok, err)
			}
			if wires.Snapshot()[batch.SiteControlRecord].Decoded != 1 {
				t.Error("decode not counted")
			}
		})
	}
}

func TestMarkerOfOtherBatches(t *testing.T) {
	control := func(key, value []byte) batch.Batch {
		builder := batch.NewBuilder()
		builder.Add(1, key, value)
		b, err := builder.Build()
		if err != nil {
			t.Fatal(err)
		}
		return edited(b, set16(21, 0x20))
	}
	cases := []struct {
		name string
		b    batch.Batch
		want error
	}{
		{"data batch", build(t, batch.None, 1), batch.ErrMalformed},
		{"leader change", control([]byte{0, 0, 0, 2}, nil), nil},
		{"short key", control([]byte{0, 0, 0}, make([]byte, 6)), batch.ErrMalformed},
		{"short value", control([]byte{0, 0, 0, 1}, make([]byte, 5)), batch.ErrMalformed},
		{"null value", control([]byte{0, 0, 0, 0}, nil), batch.ErrMalformed},
		{"empty batch", edited(control(nil, nil)[:batch.HeaderSize], set32(8, batch.HeaderSize-12), set32(57, 0)), nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if _, ok, err := c.b.Marker(nil); ok || !errors.Is(err, c.want) || (c.want == nil) != (err == nil) {
				t.Errorf("got %v, %v", ok, err)
			}
		})
	}
}
