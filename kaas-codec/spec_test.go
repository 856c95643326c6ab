package codec_test

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-codec"
)

func TestRegistryAgreesWithTheMessages(t *testing.T) {
	specs := codec.Specs()
	if len(specs) != 53 {
		t.Errorf("%d rows, want 53", len(specs))
	}
	previous := int16(-1)
	for _, spec := range specs {
		if spec.Key <= previous {
			t.Errorf("key %d does not ascend", spec.Key)
		}
		previous = spec.Key
		if found, known := codec.Lookup(spec.Key); !known || found != spec {
			t.Errorf("Lookup(%d) = %+v, %v", spec.Key, found, known)
		}
		request := kmsg.RequestForKey(spec.Key)
		if request == nil || request.MaxVersion() < spec.MaxVersion {
			t.Errorf("%s: no message of version %d", spec.Name, spec.MaxVersion)
			continue
		}
		for version := spec.MinVersion; version <= spec.MaxVersion; version++ {
			request.SetVersion(version)
			response := request.ResponseKind()
			if spec.Flexible(version) != request.IsFlexible() || spec.Flexible(version) != response.IsFlexible() {
				t.Errorf("%s v%d: flexible %v", spec.Name, version, spec.Flexible(version))
			}
		}
	}
}

func TestSpecsAreTheCallers(t *testing.T) {
	codec.Specs()[0].MaxVersion = 99
	if spec, _ := codec.Lookup(0); spec.MaxVersion != 10 {
		t.Error("changing the returned rows changed the registry")
	}
}

func TestSupportsAndFlexible(t *testing.T) {
	cases := []struct {
		key, version        int16
		supported, flexible bool
	}{
		{0, 0, true, false},
		{0, 8, true, false},
		{0, 9, true, true},
		{0, 10, true, true},
		{0, 11, false, true},
		{0, -1, false, false},
		{17, 1, true, false},
		{17, 2, false, false},
		{60, 0, true, true},
		{60, -1, false, false},
	}
	for _, c := range cases {
		spec, known := codec.Lookup(c.key)
		if !known || spec.Supports(c.version) != c.supported || spec.Flexible(c.version) != c.flexible {
			t.Errorf("%s v%d: supported %v, flexible %v", spec.Name, c.version, spec.Supports(c.version), spec.Flexible(c.version))
		}
	}
	for _, absent := range []int16{-1, 4, 38, 52, 68, 71, 76, 93, 32767} {
		if spec, known := codec.Lookup(absent); known {
			t.Errorf("key %d is registered as %s", absent, spec.Name)
		}
	}
}
