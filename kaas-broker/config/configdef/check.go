package configdef

import (
	"slices"
	"strconv"
	"strings"
)

// Check returns an empty reason for a value that the key accepts; otherwise the offending part of the value, as the
// message shows it, and the reason.
type Check func(name string, v Value) (offending, reason string)

// AtLeast accepts integers from minimum on.
func AtLeast(minimum int64) Check {
	return func(_ string, v Value) (string, string) {
		if v.number >= minimum {
			return "", ""
		}
		return v.text, "Value must be at least " + strconv.FormatInt(minimum, 10)
	}
}

// Ratio accepts real numbers from 0 to 1, both included.
func Ratio(_ string, v Value) (string, string) {
	switch {
	case v.real < 0:
		return v.text, "Value must be at least 0"
	case v.real > 1:
		return v.text, "Value must be no more than 1"
	default:
		return "", ""
	}
}

// NotZero accepts every integer except 0, for durations where a negative number means "without end".
func NotZero(_ string, v Value) (string, string) {
	if v.number != 0 {
		return "", ""
	}
	return v.text, "Value must be -1 (no limit) or at least 1"
}

// OneOf accepts exactly the given texts, in their case.
func OneOf(valid ...string) Check {
	return func(_ string, v Value) (string, string) {
		if slices.Contains(valid, v.text) {
			return "", ""
		}
		return v.text, "String must be one of: " + strings.Join(valid, ", ")
	}
}

// EachOf accepts lists whose every element is one of the given texts, the empty list too.
func EachOf(valid ...string) Check {
	return func(_ string, v Value) (string, string) {
		for _, element := range v.list {
			if !slices.Contains(valid, element) {
				return element, "String must be one of: " + strings.Join(valid, ", ")
			}
		}
		return "", ""
	}
}
