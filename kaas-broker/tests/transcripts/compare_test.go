package transcripts

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func line(path string, pairs ...string) Line {
	l := Line{Path: path}
	for i := 0; i+1 < len(pairs); i += 2 {
		l.Fields = append(l.Fields, Field{pairs[i], pairs[i+1]})
	}
	return l
}

func TestCompare(t *testing.T) {
	root, topic, partition := line(""), line("Topics[a]", "ErrorCode", "3"), line("Topics[a].Partitions[0]", "Offset", "5")
	cases := []struct {
		name        string
		kafka, kaas Exchange
		want        []string
	}{
		{"equal", Exchange{Lines: []Line{root, topic, partition}}, Exchange{Lines: []Line{root, topic, partition}}, nil},
		{
			"a field",
			Exchange{Lines: []Line{root, topic}},
			Exchange{Lines: []Line{root, line("Topics[a]", "ErrorCode", "4")}},
			[]string{"Topics[a].ErrorCode 3 4"},
		},
		{"a field that is unset", Exchange{Lines: []Line{root, topic}}, Exchange{Lines: []Line{root, line("Topics[a]")}}, []string{"Topics[a].ErrorCode 3 unset"}},
		{"a structure with another inside", Exchange{Lines: []Line{root, topic, partition}}, Exchange{Lines: []Line{root}}, []string{"Topics[a] present absent"}},
		{"one structure too many", Exchange{Lines: []Line{root, topic}}, Exchange{Lines: []Line{root, topic, partition}}, []string{"Topics[a].Partitions[0] absent present"}},
		{"no answer", Exchange{Lines: []Line{root}}, Exchange{Answer: closed}, []string{"answer present closed"}},
		{"both closed", Exchange{Answer: closed}, Exchange{Answer: closed}, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, d := range compare(c.kafka, c.kaas) {
				got = append(got, d.Field+" "+d.Kafka+" "+d.Kaas)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("differences %q, want %q", got, c.want)
			}
		})
	}
}

func TestRecordingKeepsEverything(t *testing.T) {
	lines := []Line{
		line(""), line("Topics[a]"), line("Topics[a].Partitions[0]", "ErrorCode", "3 UNKNOWN", "Text", `"a, b: \"[c\""`, "Replicas", "[0, 1]"),
		line("Topics[b.c]", "ErrorCode", "1"),
	}
	exchanges := []Exchange{
		{Name: "one · two", API: "Fetch", Version: 3, Lines: lines},
		{Name: "one · two", API: "Fetch", Version: 4, Lines: lines},
		{Name: "one · two", API: "Fetch", Version: 6, Lines: lines},
		{Name: "gone", API: "Fetch", Version: -1, Answer: closed},
		{Name: "gone", API: "Fetch", Version: 32767, Answer: closed},
		{Name: "empty", API: "Produce", Version: 0, Lines: []Line{line("")}},
	}
	path := filepath.Join(t.TempDir(), "recording")
	if err := writeRecording(path, "heading", exchanges); err != nil {
		t.Fatal(err)
	}
	got, err := readRecording(path)
	if err != nil {
		t.Fatal(err)
	}
	same := func(a, b Exchange) bool {
		return a.Title() == b.Title() && a.Answer == b.Answer && slices.EqualFunc(a.Lines, b.Lines, sameLine)
	}
	if !slices.EqualFunc(got, exchanges, same) {
		t.Errorf("read %+v, want %+v", got, exchanges)
	}
	if text, _ := os.ReadFile(path); strings.Count(string(text), " · Fetch v3-v4\n") != 1 {
		t.Errorf("equal neighbors do not share a block:\n%s", text)
	}
}

func TestDeviations(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deviations")
	text := "# heading\n\ns: a name · Fetch v3-v5\ns: other * · Fetch v1\n  *.Offset: 5 => *\n  Topics[a]: present => absent\n  because: some\n    reason\n\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	deviations, err := readDeviations(path)
	if err != nil || len(deviations) != 1 {
		t.Fatalf("%d deviations, %v", len(deviations), err)
	}
	d := deviations[0]
	cases := []struct {
		name       string
		script     string
		difference Difference
		want       bool
	}{
		{"as listed", "s", Difference{"a name · Fetch v4", "Topics[a].Offset", "5", "7"}, true},
		{"another script", "x", Difference{"a name · Fetch v4", "Topics[a].Offset", "5", "7"}, false},
		{"another version", "s", Difference{"a name · Fetch v6", "Topics[a].Offset", "5", "7"}, false},
		{"another exchange", "s", Difference{"a name too · Fetch v4", "Topics[a].Offset", "5", "7"}, false},
		{"another answer of Kafka", "s", Difference{"a name · Fetch v4", "Topics[a].Offset", "6", "7"}, false},
		{"another field", "s", Difference{"a name · Fetch v4", "Topics[a].Epoch", "5", "7"}, false},
		{"a pattern of exchanges", "s", Difference{"other things · Fetch v1", "Topics[a].Offset", "5", "7"}, true},
	}
	for _, c := range cases {
		if got := d.explains(c.script, c.difference); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	if unused := d.unused(); len(unused) != 1 || !strings.HasPrefix(unused[0], "Topics[a]: ") {
		t.Errorf("unused %q", unused)
	}
	if d.reason != "some reason" {
		t.Errorf("reason %q", d.reason)
	}
}

func TestDeviationsAreComplete(t *testing.T) {
	for name, text := range map[string]string{
		"no reason": "s: a · Fetch v3\n  X: 1 => 2\n\n",
		"no field":  "s: a · Fetch v3\n  because: x\n\n",
		"no script": "a · Fetch v3\n  X: 1 => 2\n  because: x\n\n",
		"no values": "s: a · Fetch v3\n  X\n  because: x\n\n",
	} {
		path := filepath.Join(t.TempDir(), "deviations")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readDeviations(path); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
