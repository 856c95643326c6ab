package harness

// tail is the end of a text, at most so many bytes.
func tail(text string, size int) string {
	if len(text) <= size {
		return text
	}
	return "…" + text[len(text)-size:]
}
