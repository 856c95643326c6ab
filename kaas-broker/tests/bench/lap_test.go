package main

import (
	"slices"
	"testing"
)

func TestChosenWorks(t *testing.T) {
	all := works()
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"what is read is written", "fetch, bare", []string{nameWarmUp, nameProduceEight, "fetch, bare requests"}},
		{"by part of the name", "produce", []string{
			nameWarmUp, "produce, 1 producer", nameProduceEight, "produce, 8 producers, idempotent", "produce, bare requests",
		}},
		{"none", "no such work", []string{nameWarmUp}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, w := range chosen(all, c.text) {
				got = append(got, w.name)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	if got := len(chosen(all, "")); got != len(all) {
		t.Errorf("%d works without a choice, want all %d", got, len(all))
	}
}
