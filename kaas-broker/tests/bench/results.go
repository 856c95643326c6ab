package main

import "slices"

// results are all measurements: by contestant and metric, one value for each round.
type results map[string]map[metric][]float64

func (r results) add(contestant string, m metric, value float64) {
	if r[contestant] == nil {
		r[contestant] = map[metric][]float64{}
	}
	r[contestant][m] = append(r[contestant][m], value)
}

// of is the summary of one measurement; ok is false when it was never taken.
func (r results) of(contestant string, m metric) (s summary, ok bool) {
	return summarize(r[contestant][m])
}

func (r results) median(contestant string, m metric) (float64, bool) {
	s, ok := r.of(contestant, m)
	return s.Median, ok
}

// measured is the rows that any contestant has.
func (r results) measured(contestants []string) []row {
	return slices.DeleteFunc(rows(), func(line row) bool {
		return !slices.ContainsFunc(contestants, func(name string) bool {
			_, ok := r.of(name, line.metric)
			return ok
		})
	})
}
