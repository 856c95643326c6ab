package config

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
)

// unicodeEscape reads what follows \u: four hexadecimal digits, and a second escape when the first is half of a
// character beyond the 16 bit ones. It returns the character and how many bytes it took.
func unicodeEscape(text string) (char rune, length int, err error) {
	first, err := hexDigits(text)
	if err != nil {
		return 0, 0, err
	}
	if !utf16.IsSurrogate(first) {
		return first, 4, nil
	}
	second := rune(0)
	if rest, ok := strings.CutPrefix(text[4:], `\u`); ok {
		if second, err = hexDigits(rest); err != nil {
			return 0, 0, err
		}
	}
	char = utf16.DecodeRune(first, second)
	if char == '\uFFFD' {
		return 0, 0, fmt.Errorf("%w: \\u%s is half a character", ErrProperties, text[:4])
	}
	return char, 10, nil
}

func hexDigits(text string) (rune, error) {
	if len(text) < 4 {
		return 0, fmt.Errorf("%w: \\u needs four hexadecimal digits", ErrProperties)
	}
	number, err := strconv.ParseUint(text[:4], 16, 16)
	if err != nil {
		return 0, fmt.Errorf("%w: \\u needs four hexadecimal digits, got %q", ErrProperties, text[:4])
	}
	return rune(number), nil
}
