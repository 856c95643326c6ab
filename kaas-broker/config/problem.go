package config

import (
	"errors"
	"fmt"
	"strings"
)

// Problem is one reason why a configuration cannot be used.
type Problem struct {
	Origin Origin
	Err    error
}

// String returns the problem as one line that begins with its origin.
func (p Problem) String() string { return p.Origin.String() + ": " + p.Err.Error() }

// ProblemsError is every reason why a configuration cannot be used, in the order of the sources.
type ProblemsError struct{ Problems []Problem }

// Error lists the problems, one a line.
func (e *ProblemsError) Error() string {
	var text strings.Builder
	noun := "problems"
	if len(e.Problems) == 1 {
		noun = "problem"
	}
	fmt.Fprintf(&text, "%d %s in the configuration:", len(e.Problems), noun)
	for _, problem := range e.Problems {
		text.WriteString("\n  " + problem.String())
	}
	return text.String()
}

// Unwrap returns the errors of all problems, for errors.Is and errors.As.
func (e *ProblemsError) Unwrap() []error {
	list := make([]error, len(e.Problems))
	for i, problem := range e.Problems {
		list[i] = problem.Err
	}
	return list
}

// ErrNotServed means that a setting asks for something that this version does not do and that must not be ignored.
var ErrNotServed = errors.New("not served by this version")
