package main

import (
	"context"
	"runtime"
	"strings"
	"testing"
)

func TestJournal(t *testing.T) {
	dirs := []string{""}
	if runtime.GOOS == "linux" {
		dirs = append(dirs, t.TempDir())
	}
	for _, dir := range dirs {
		for _, line := range []string{"one", "two"} {
			if err := run(context.Background(), dir, strings.NewReader(line+"\n"), &strings.Builder{}); err != nil {
				t.Fatal(err)
			}
		}
		var out strings.Builder
		if err := run(context.Background(), dir, strings.NewReader("three\nfour\n"), &out); err != nil {
			t.Fatal(err)
		}
		if want := map[bool]string{true: "one", false: "three"}[dir != ""]; !strings.Contains(out.String(), "     0  ") || !strings.Contains(out.String(), want) {
			t.Fatalf("printed %q", out.String())
		}
	}
}
