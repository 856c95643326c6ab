package config_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/kaas-rs/kaas/kaas-broker/config"
)

func TestParseProperties(t *testing.T) {
	cases := []struct{ name, text, want string }{
		{"separators", "a=1\nb:2\nc 3\nd\t=\t4\ne = : 5\nf", "1:a=1 2:b=2 3:c=3 4:d=4 5:e=: 5 6:f="},
		{"comments and empty lines", "# a=1\n\n  ! b=2\n c=3", "4:c=3"},
		{"continued", "a=1,\\\n   2,\\\n   3\nb=4", "1:a=1,2,3 4:b=4"},
		{"a comment ends no continuation", "a=1\\\n#2", "1:a=1#2"},
		{"two backslashes do not continue", "a=1\\\\\nb=2", "1:a=1\\ 2:b=2"},
		{"continued at the end", "a=1\\", "1:a=1"},
		{"escapes", `a\ b\=c\:d=\t\n\r\f\\\q`, "1:a b=c:d=\t\n\r\f\\q"},
		{"unicode", `a=\u00e9\u4e2d\uD83D\uDE00`, "1:a=é中😀"},
		{"line ends", "a=1\r\nb=2\rc=3", "1:a=1 2:b=2 3:c=3"},
		{"trailing blanks stay", "a=1 ", "1:a=1 "},
		{"repeated", "a=1\na=2", "1:a=1 2:a=2"},
		{"byte order mark", "\ufeffa=1", "1:a=1"},
		{"Latin 1", "a=\xe9", "1:a=é"},
		{"UTF-8", "a=é", "1:a=é"},
		{"empty key", "=1", "1:=1"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			properties, err := config.ParseProperties(c.text)
			if err != nil {
				t.Fatal(err)
			}
			var parts []string
			for _, p := range properties {
				parts = append(parts, fmt.Sprintf("%d:%s=%s", p.Line, p.Key, p.Value))
			}
			if got := strings.Join(parts, " "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestMalformedProperties(t *testing.T) {
	properties, err := config.ParseProperties("a=\\u12\nb=2\nc=\\uzzzz\nd=\\ud83d")
	if len(properties) != 1 || properties[0].Key != "b" {
		t.Errorf("properties %v", properties)
	}
	if !errors.Is(err, config.ErrProperties) {
		t.Fatal(err)
	}
	for _, line := range []string{"line 1:", "line 3:", "line 4:"} {
		if !strings.Contains(err.Error(), line) {
			t.Errorf("error lacks %s: %v", line, err)
		}
	}
}

// Whatever the text, parsing ends without a panic, lines count up, and what comes out can be written and read again.
func FuzzParseProperties(f *testing.F) {
	for _, seed := range []string{"", "a=1", "#x\na:\\u0041\\\n  b", "\\", "a\\", "a=\\ud83d\\ude00", "\xff=\xfe", "  =  :  ", "a\\ b=c\\\\"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		properties, err := config.ParseProperties(text)
		if err != nil && !errors.Is(err, config.ErrProperties) {
			t.Fatalf("error %v of a kind that is not documented", err)
		}
		var written strings.Builder
		line := 0
		for _, p := range properties {
			if p.Line <= line {
				t.Fatalf("line %d after line %d", p.Line, line)
			}
			line = p.Line
			fmt.Fprintf(&written, "%s=%s\n", escape(p.Key), escape(p.Value))
		}
		again, err := config.ParseProperties(written.String())
		if err != nil || len(again) != len(properties) {
			t.Fatalf("read again: %d of %d, %v", len(again), len(properties), err)
		}
		for i := range again {
			if again[i].Key != properties[i].Key || again[i].Value != properties[i].Value {
				t.Fatalf("read again: %+v, was %+v", again[i], properties[i])
			}
		}
	})
}

// escape protects every character that is not a letter or digit.
func escape(text string) string {
	var out strings.Builder
	for _, char := range text {
		switch {
		case char == '\n':
			out.WriteString(`\n`)
		case char == '\r':
			out.WriteString(`\r`)
		case char == '\t':
			out.WriteString(`\t`)
		case char == '\f':
			out.WriteString(`\f`)
		case char < 128 && !(char >= '0' && char <= '9' || char >= 'a' && char <= 'z' || char >= 'A' && char <= 'Z'):
			out.WriteString(`\` + string(char))
		default:
			out.WriteRune(char)
		}
	}
	return out.String()
}
