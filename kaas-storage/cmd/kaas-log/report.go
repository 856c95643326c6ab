package main

import (
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// step is one thing that was tried.
type step struct {
	Name   string     `json:"name"`
	OK     bool       `json:"ok"`
	Millis float64    `json:"ms"`
	Detail string     `json:"detail,omitempty"`
	Calls  []callTime `json:"calls,omitempty"`
}

// callTime is what one kind of file call took within a step.
type callTime struct {
	Call    string  `json:"call"`
	Count   int     `json:"count"`
	Millis  float64 `json:"ms"` // all of them together
	Longest float64 `json:"longestMs"`
}

// report collects steps, and prints each at once unless JSON is wanted.
type report struct {
	Volume string  `json:"volume"`
	Holder string  `json:"holder"`
	Taker  string  `json:"taker"`
	Fences bool    `json:"fences"`
	Steps  []*step `json:"steps"`

	json bool
	out  io.Writer
}

func newReport(asJSON bool, out io.Writer) *report {
	return &report{Fences: true, json: asJSON, out: out}
}

func (r *report) begin(volume, holder, taker string) {
	r.Volume, r.Holder, r.Taker = volume, holder, taker
	if !r.json {
		fmt.Fprintf(r.out, "volume  %s\nholder  %s\ntaker   %s\n\n", volume, holder, taker)
	}
}

func (r *report) add(s *step) {
	r.Steps = append(r.Steps, s)
	r.Fences = r.Fences && s.OK
	if r.json {
		return
	}
	verdict := "ok  "
	if !s.OK {
		verdict = "FAIL"
	}
	fmt.Fprintf(r.out, "%s %9.1f ms  %s\n", verdict, s.Millis, s.Name)
	if s.Detail != "" {
		fmt.Fprintf(r.out, "%20s%s\n", "", s.Detail)
	}
	for _, c := range s.Calls {
		fmt.Fprintf(r.out, "%20s%-16s %3d x  %8.1f ms, longest %.1f ms\n", "", c.Call, c.Count, c.Millis, c.Longest)
	}
}

// finish prints the verdict.
func (r *report) finish() error {
	switch {
	case r.json:
		encoder := json.NewEncoder(r.out)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(r); err != nil {
			return err
		}
	case r.Fences:
		fmt.Fprintln(r.out, "\nThis volume fences: an owner that was replaced notices before it acknowledges anything.")
	default:
		fmt.Fprintln(r.out, "\nDo not keep logs on this volume: acknowledged records could be lost on it.")
	}
	if !r.Fences {
		return errBad
	}
	return nil
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
