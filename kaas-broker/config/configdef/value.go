package configdef

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Value is a parsed value of any type. The zero Value is an empty string.
type Value struct {
	text   string
	number int64
	real   float64
	list   []string
}

// Text returns the value as Kafka prints it: trimmed, booleans in lower case, numbers in canonical form, lists joined
// by commas without blanks.
func (v Value) Text() string { return v.text }

// Bool returns the value of a BOOLEAN key.
func (v Value) Bool() bool { return v.number != 0 }

// Int64 returns the value of an INT, SHORT or LONG key.
func (v Value) Int64() int64 { return v.number }

// Milliseconds returns the value of a key in milliseconds as a duration. What is too long for one becomes the longest, 292 years.
func (v Value) Milliseconds() time.Duration {
	const most = math.MaxInt64 / int64(time.Millisecond)
	return time.Duration(min(max(v.number, -most), most)) * time.Millisecond
}

// Float64 returns the value of a DOUBLE key.
func (v Value) Float64() float64 { return v.real }

// List returns the elements of a LIST key, a copy.
func (v Value) List() []string { return append([]string(nil), v.list...) }

// parse returns the value, or the reason why raw is none.
func parse(t Type, raw string) (Value, string) {
	text := strings.TrimSpace(raw)
	switch t {
	case TypeBoolean:
		return parseBoolean(text)
	case TypeInt:
		return parseInteger(t, text, 32)
	case TypeShort:
		return parseInteger(t, text, 16)
	case TypeLong:
		return parseInteger(t, text, 64)
	case TypeDouble:
		return parseDouble(text)
	case TypeList:
		list := splitList(text)
		return Value{text: strings.Join(list, ","), list: list}, ""
	default:
		return Value{text: text}, ""
	}
}

func parseBoolean(text string) (Value, string) {
	switch {
	case strings.EqualFold(text, "true"):
		return Value{text: "true", number: 1}, ""
	case strings.EqualFold(text, "false"):
		return Value{text: "false"}, ""
	default:
		return Value{}, "Expected value to be either true or false"
	}
}

func parseInteger(t Type, text string, bits int) (Value, string) {
	number, err := strconv.ParseInt(text, 10, bits)
	if err != nil {
		return Value{}, "Not a number of type " + t.String()
	}
	return Value{text: strconv.FormatInt(number, 10), number: number}, ""
}

// parseDouble refuses NaN, which Kafka accepts: no bound can be checked against it.
func parseDouble(text string) (Value, string) {
	number, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(number) {
		return Value{}, "Not a number of type DOUBLE"
	}
	return Value{text: FormatDouble(number), real: number}, ""
}

func splitList(text string) []string {
	if text == "" {
		return nil
	}
	list := strings.Split(text, ",")
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	return list
}

// FormatDouble prints a number as the JVM does, which is what Kafka's answers contain: a decimal point always, and
// an exponent outside 0.001 to 10,000,000.
func FormatDouble(number float64) string {
	magnitude := math.Abs(number)
	switch {
	case math.IsInf(number, 1):
		return "Infinity"
	case math.IsInf(number, -1):
		return "-Infinity"
	case magnitude == 0 || (magnitude >= 1e-3 && magnitude < 1e7):
		return withPoint(strconv.FormatFloat(number, 'f', -1, 64))
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(number, 'e', -1, 64), "e")
	exponent = strings.TrimPrefix(exponent, "+")
	sign := ""
	if strings.HasPrefix(exponent, "-") {
		sign, exponent = "-", exponent[1:]
	}
	return withPoint(mantissa) + "E" + sign + strings.TrimLeft(exponent, "0")
}

func withPoint(text string) string {
	if strings.Contains(text, ".") {
		return text
	}
	return text + ".0"
}
