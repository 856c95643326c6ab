package readme

import (
	"regexp"
	"strings"
)

// step is one command of a transcript and the lines that it must print.
type step struct {
	command string
	want    []string
}

// steps reads the console blocks of a Markdown text: a line that starts with "$ " is a command, the lines below it are its output.
func steps(markdown string) []step {
	var list []step
	inside := false
	for line := range strings.Lines(markdown) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "```"):
			inside = line == "```console"
		case !inside:
		case strings.HasPrefix(line, "$ "):
			list = append(list, step{command: line[2:]})
		default:
			last := &list[len(list)-1]
			last.want = append(last.want, line)
		}
	}
	return list
}

// matches compares an output with the transcript. "…" stands for anything within a line, and alone on a line for any lines.
func (s step) matches(output string) bool {
	pattern := "^"
	for _, line := range s.want {
		if line == "…" {
			pattern += `(?s:.*)`
			continue
		}
		pattern += strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*") + `\n`
	}
	return regexp.MustCompile(pattern + "$").MatchString(output)
}
