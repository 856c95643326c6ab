package transcripts

import (
	"cmp"
	"slices"
	"strings"
)

// Difference is one place where an answer of kaas is not the recorded one.
type Difference struct {
	Exchange string // title
	Field    string // path, or "answer" for what came instead of one
	Kafka    string
	Kaas     string
}

// unset stands for a field that has its default, and absent for a structure that is not there.
const (
	unset   = "unset"
	absent  = "absent"
	present = "present"
)

// compare lists the differences of two answers to one request.
func compare(kafka, kaas Exchange) []Difference {
	title := kafka.Title()
	if kafka.Answer != kaas.Answer {
		return []Difference{{title, "answer", cmp.Or(kafka.Answer, present), cmp.Or(kaas.Answer, present)}}
	}
	var found []Difference
	theirs, ours := byPath(kafka.Lines), byPath(kaas.Lines)
	for _, path := range paths(kafka.Lines, kaas.Lines) {
		their, isTheirs := theirs[path]
		our, isOurs := ours[path]
		if isTheirs && isOurs {
			found = append(found, compareFields(title, their, our)...)
			continue
		}
		if parent := parentOf(path); isElsewhere(parent, theirs, ours) {
			continue // told by the structure around it
		}
		found = append(found, Difference{title, path, there(isTheirs), there(isOurs)})
	}
	return found
}

func byPath(lines []Line) map[string]Line {
	table := map[string]Line{}
	for _, line := range lines {
		table[line.Path] = line
	}
	return table
}

func paths(a, b []Line) []string {
	var list []string
	for _, line := range slices.Concat(a, b) {
		list = append(list, line.Path)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// isElsewhere reports whether a structure is in one answer only.
func isElsewhere(path string, theirs, ours map[string]Line) bool {
	_, isTheirs := theirs[path]
	_, isOurs := ours[path]
	return isTheirs != isOurs
}

// parentOf is the path of the structure around one.
func parentOf(path string) string {
	depth := 0
	for i := len(path) - 1; i >= 0; i-- {
		switch path[i] {
		case ']':
			depth++
		case '[':
			depth--
		case '.':
			if depth == 0 {
				return path[:i]
			}
		}
	}
	return ""
}

func compareFields(title string, their, our Line) []Difference {
	var found []Difference
	for _, name := range fieldNames(their, our) {
		kafka, kaas := their.get(name), our.get(name)
		if kafka != kaas {
			found = append(found, Difference{title, join(their.Path, name), kafka, kaas})
		}
	}
	return found
}

func fieldNames(a, b Line) []string {
	var names []string
	for _, field := range slices.Concat(a.Fields, b.Fields) {
		if !slices.Contains(names, field.Name) {
			names = append(names, field.Name)
		}
	}
	return names
}

func (l Line) get(name string) string {
	for _, field := range l.Fields {
		if field.Name == name {
			return field.Value
		}
	}
	return unset
}

func there(is bool) string {
	if is {
		return present
	}
	return absent
}

// String is the difference as deviations.txt has it, without a reason.
func (d Difference) String() string {
	return strings.Join([]string{d.Exchange, "  " + d.Field, "  kafka: " + d.Kafka, "  kaas: " + d.Kaas, ""}, "\n")
}
