package config

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Property is one entry of a properties file.
type Property struct {
	Key, Value string
	// Line is where the entry begins, from 1.
	Line int
}

// ErrProperties means that a file is not in the syntax of Java's property files.
var ErrProperties = errors.New("malformed properties")

// ParseProperties reads the syntax of Java's property files (java.util.Properties): comments with # or !, a backslash
// that continues a line or escapes a character, and =, : or blanks between key and value. Text that is not UTF-8 is
// read as Latin 1, as Java does. Entries come in the order of the file, repeated keys included. The error joins one
// *LineError, which wraps ErrProperties, for each malformed line; the other lines are still returned.
func ParseProperties(text string) ([]Property, error) {
	if !utf8.ValidString(text) {
		text = fromLatin1(text)
	}
	var properties []Property
	var problems []error
	for _, line := range logicalLines(strings.TrimPrefix(text, "\ufeff")) {
		property, err := parseProperty(line)
		if err != nil {
			problems = append(problems, &LineError{Line: line.number, Err: err})
			continue
		}
		properties = append(properties, property)
	}
	return properties, errors.Join(problems...)
}

// fromLatin1 makes each byte the character of its number.
func fromLatin1(text string) string {
	characters := make([]rune, len(text))
	for i := range len(text) {
		characters[i] = rune(text[i])
	}
	return string(characters)
}

// LineError is a problem with one line of a file.
type LineError struct {
	// Line counts from 1.
	Line int
	Err  error
}

// Error names the line.
func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns the problem.
func (e *LineError) Unwrap() error { return e.Err }

type logicalLine struct {
	number int
	text   string
}

// logicalLines joins continued lines and drops comments and empty lines.
func logicalLines(text string) []logicalLine {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	var lines []logicalLine
	natural := strings.Split(text, "\n")
	for i := 0; i < len(natural); i++ {
		number, line := i+1, trimBlank(natural[i])
		if line == "" || line[0] == '#' || line[0] == '!' {
			continue
		}
		for continued(line) {
			line = line[:len(line)-1]
			if i+1 == len(natural) {
				break
			}
			i++
			line += trimBlank(natural[i])
		}
		if line != "" {
			lines = append(lines, logicalLine{number, line})
		}
	}
	return lines
}

// continued reports whether the line ends in an odd number of backslashes: an even number stands for itself.
func continued(line string) bool {
	return (len(line)-len(strings.TrimRight(line, `\`)))%2 == 1
}

func trimBlank(line string) string { return strings.TrimLeft(line, " \t\f") }

func parseProperty(line logicalLine) (Property, error) {
	end := keyEnd(line.text)
	value := trimBlank(line.text[end:])
	if value != "" && (value[0] == '=' || value[0] == ':') {
		value = trimBlank(value[1:])
	}
	key, err := unescape(line.text[:end])
	if err != nil {
		return Property{}, err
	}
	value, err = unescape(value)
	return Property{Key: key, Value: value, Line: line.number}, err
}

// keyEnd finds the first separator that no backslash protects.
func keyEnd(text string) int {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '=', ':', ' ', '\t', '\f':
			return i
		}
	}
	return len(text)
}

func unescape(text string) (string, error) {
	if !strings.Contains(text, `\`) {
		return text, nil
	}
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			out.WriteByte(text[i])
			continue
		}
		i++
		if text[i] != 'u' {
			out.WriteByte(escaped(text[i]))
			continue
		}
		char, length, err := unicodeEscape(text[i+1:])
		if err != nil {
			return "", err
		}
		out.WriteRune(char)
		i += length
	}
	return out.String(), nil
}

// escaped is what a backslash makes of a character: itself, unless it names a control character.
func escaped(char byte) byte {
	switch char {
	case 't':
		return '\t'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 'f':
		return '\f'
	default:
		return char
	}
}
