package transcripts

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"
)

// writeRecording keeps exchanges in a file, one block for each. Neighbors that differ only in their version share a block.
func writeRecording(path, heading string, exchanges []Exchange) error {
	var text strings.Builder
	text.WriteString("# " + heading + "\n")
	for i := 0; i < len(exchanges); {
		last := i
		for last+1 < len(exchanges) && continues(exchanges[last], exchanges[last+1]) {
			last++
		}
		writeBlock(&text, exchanges[i], exchanges[last].Version)
		i = last + 1
	}
	return os.WriteFile(path, []byte(text.String()), 0o644) //nolint:gosec // read by everyone who reads the repository
}

func continues(a, b Exchange) bool {
	return a.Name == b.Name && a.API == b.API && a.Version+1 == b.Version && a.Answer == b.Answer && slices.EqualFunc(a.Lines, b.Lines, sameLine)
}

func sameLine(a, b Line) bool { return a.Path == b.Path && slices.Equal(a.Fields, b.Fields) }

func writeBlock(text *strings.Builder, e Exchange, last int16) {
	fmt.Fprintf(text, "\n%s", e.Title())
	if last != e.Version {
		fmt.Fprintf(text, "-v%d", last)
	}
	text.WriteByte('\n')
	if e.Answer != "" {
		fmt.Fprintf(text, "  %s\n", e.Answer)
	}
	for i, line := range e.Lines {
		if len(line.Fields) == 0 && i+1 < len(e.Lines) && parentOf(e.Lines[i+1].Path) == line.Path {
			continue // the next line implies it
		}
		fmt.Fprintf(text, "  %s\n", line)
	}
}

// String is the line as recordings have it.
func (l Line) String() string {
	var parts []string
	for _, field := range l.Fields {
		parts = append(parts, field.Name+": "+field.Value)
	}
	return strings.TrimPrefix(l.Path+" {"+strings.Join(parts, ", ")+"}", " ")
}

// readRecording returns the exchanges that a file keeps, each version by itself.
func readRecording(path string) ([]Exchange, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var exchanges []Exchange
	block := 0 // exchanges of the block that is being read
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for number := 1; lines.Scan(); number++ {
		line := lines.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		content, inside := strings.CutPrefix(line, "  ")
		if !inside {
			added, err := parseTitle(line)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", path, number, err)
			}
			exchanges, block = append(exchanges, added...), len(added)
			continue
		}
		for i := len(exchanges) - block; i < len(exchanges); i++ {
			exchanges[i].addLine(content)
		}
	}
	return exchanges, lines.Err()
}

func (e *Exchange) addLine(content string) {
	path, fields, structured := strings.Cut(content, "{")
	if !structured {
		e.Answer = content
		return
	}
	line := Line{Path: strings.TrimSuffix(path, " ")}
	for _, part := range splitFields(strings.TrimSuffix(fields, "}")) {
		name, value, _ := strings.Cut(part, ": ")
		line.Fields = append(line.Fields, Field{name, value})
	}
	if line.Path != "" {
		e.addAround(line.Path)
	}
	e.Lines = append(e.Lines, line)
}

// addAround adds the structures around a path that the file leaves out, because they have no fields of their own.
func (e *Exchange) addAround(path string) {
	parent := ""
	if !strings.Contains(path, "[*") {
		parent = parentOf(path)
	}
	if slices.ContainsFunc(e.Lines, func(l Line) bool { return l.Path == parent }) {
		return
	}
	if parent != "" {
		e.addAround(parent)
	}
	e.Lines = append(e.Lines, Line{Path: parent})
}

// parseTitle reads "name · API v3-v5" as three exchanges.
func parseTitle(title string) ([]Exchange, error) {
	at := strings.LastIndex(title, " · ")
	if at < 0 {
		return nil, fmt.Errorf("no exchange: %q", title)
	}
	e := Exchange{Name: title[:at]}
	var versions string
	e.API, versions, _ = strings.Cut(title[at+len(" · "):], " ")
	var first, last int
	if _, err := fmt.Sscanf(versions, "v%d-v%d", &first, &last); err != nil {
		if _, err := fmt.Sscanf(versions, "v%d", &first); err != nil {
			return nil, fmt.Errorf("no version: %q", title)
		}
		last = first
	}
	var exchanges []Exchange
	for version := first; version <= last; version++ {
		e.Version = int16(version)
		exchanges = append(exchanges, e)
	}
	return exchanges, nil
}

// splitFields cuts "a: 1, b: [2, 3]" at the commas that separate fields.
func splitFields(text string) []string {
	var parts []string
	depth, quoted, from := 0, false, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[':
			depth++
		case c == ']':
			depth--
		case c == ',' && depth == 0:
			parts = append(parts, text[from:i])
			from = i + len(", ")
		}
	}
	if from < len(text) {
		parts = append(parts, text[from:])
	}
	return parts
}
