package configdef_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kaas-rs/kaas/kaas-broker/config/configdef"
)

func TestParse(t *testing.T) {
	cases := []struct {
		name string
		kind configdef.Type
		raw  string
		want string
		bad  bool
	}{
		{"boolean in any case", configdef.TypeBoolean, " TrUe ", "true", false},
		{"boolean false", configdef.TypeBoolean, "FALSE", "false", false},
		{"no boolean", configdef.TypeBoolean, "yes", "", true},
		{"integer", configdef.TypeInt, " +05 ", "5", false},
		{"integer beyond 32 bits", configdef.TypeInt, "2147483648", "", true},
		{"short beyond 16 bits", configdef.TypeShort, "32768", "", true},
		{"long", configdef.TypeLong, "-9223372036854775808", "-9223372036854775808", false},
		{"long beyond 64 bits", configdef.TypeLong, "9223372036854775808", "", true},
		{"fraction is no integer", configdef.TypeInt, "1.0", "", true},
		{"double", configdef.TypeDouble, ".5", "0.5", false},
		{"whole double", configdef.TypeDouble, "3", "3.0", false},
		{"no double", configdef.TypeDouble, "NaN", "", true},
		{"list", configdef.TypeList, " a , b ", "a,b", false},
		{"empty list", configdef.TypeList, "  ", "", false},
		{"string", configdef.TypeString, " a b ", "a b", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			value, err := configdef.Definition{Name: "k", Type: c.kind}.Parse(c.raw)
			if (err != nil) != c.bad || value.Text() != c.want {
				t.Errorf("got %q, %v", value.Text(), err)
			}
			if c.bad && !errors.Is(err, configdef.ErrInvalidValue) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestTypedValues(t *testing.T) {
	parse := func(kind configdef.Type, raw string) configdef.Value {
		value, err := configdef.Definition{Type: kind}.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	if !parse(configdef.TypeBoolean, "true").Bool() || parse(configdef.TypeBoolean, "false").Bool() {
		t.Error("booleans")
	}
	if parse(configdef.TypeLong, "7").Int64() != 7 || parse(configdef.TypeDouble, "0.25").Float64() != 0.25 {
		t.Error("numbers")
	}
	list := parse(configdef.TypeList, "a,,b")
	got := list.List()
	if !slices.Equal(got, []string{"a", "", "b"}) {
		t.Errorf("list %q", got)
	}
	got[0] = "changed"
	if list.List()[0] != "a" {
		t.Error("the list is shared")
	}
}

func TestFormatDouble(t *testing.T) {
	for number, want := range map[float64]string{
		0: "0.0", 1: "1.0", 0.5: "0.5", -2.25: "-2.25", 0.001: "0.001", 0.0001: "1.0E-4", 9999999: "9999999.0", 1e7: "1.0E7",
		1.5e10: "1.5E10", math.MaxFloat64: "1.7976931348623157E308", math.Inf(1): "Infinity", math.Inf(-1): "-Infinity",
	} {
		if got := configdef.FormatDouble(number); got != want {
			t.Errorf("%g: %s, want %s", number, got, want)
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"retention.ms", "retention.bytes", "segment.ms"}
	for wanted, nearest := range map[string]string{
		"retention.ms": "retention.ms", "RETENTION_MS": "retention.ms", "retention.byte": "retention.bytes", "segmnt-ms": "segment.ms",
		"compression": "", "": "", "x": "",
	} {
		if got := configdef.Nearest(wanted, names); got != nearest {
			t.Errorf("%q: %q, want %q", wanted, got, nearest)
		}
	}
}

// A client may send thousands of names of 32 KiB, and each is compared with every key there is.
func TestNearestOfLongNamesIsQuick(t *testing.T) {
	names := []string{"retention.ms", "retention.bytes", "segment.ms"}
	wanted := strings.Repeat("retention.ms", 2700)
	began := time.Now()
	for range 1000 {
		if got := configdef.Nearest(wanted, names); got != "" {
			t.Fatalf("%q", got)
		}
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("a thousand names took %v", took)
	}
}

func TestNamesOfTypesAndSources(t *testing.T) {
	if configdef.TypeBoolean.String() != "BOOLEAN" || configdef.TypePassword.String() != "PASSWORD" || configdef.Type(99).String() != "UNKNOWN" {
		t.Error("types")
	}
	if configdef.SourceDynamicTopic.String() != "DYNAMIC_TOPIC_CONFIG" || configdef.SourceDefault.String() != "DEFAULT_CONFIG" || configdef.Source(-1).String() != "UNKNOWN" {
		t.Error("sources")
	}
}
