package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// document is the file of a module that is checked.
const document = "DESIGN.md"

var (
	fence = regexp.MustCompile("(?s)```.*?```")
	name  = regexp.MustCompile("`([A-Za-z_0-9/.]+)`")
)

// check returns what the document of a module names in vain, in the document's order. Errors: a document or a source file that cannot be read.
func check(module string, others []string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(module, document))
	if err != nil {
		return nil, err
	}
	declared := make(names)
	if err := declared.addModule(module, true); err != nil {
		return nil, err
	}
	for _, other := range others {
		if err := declared.addModule(other, false); err != nil {
			return nil, err
		}
	}
	var missing []string
	for _, match := range name.FindAllStringSubmatch(fence.ReplaceAllString(string(text), ""), -1) {
		if !exists(module, match[1], declared) {
			missing = append(missing, match[1])
		}
	}
	return missing, nil
}

func exists(module, name string, declared names) bool {
	switch {
	case strings.HasPrefix(name, "/"), strings.HasPrefix(name, "."): // an address of HTTP, or what a file's name ends in
		return true
	case strings.ContainsRune(name, '/'), strings.HasSuffix(name, ".go"):
		_, err := os.Stat(filepath.Join(module, name))
		return err == nil
	case !strings.ContainsRune(name, '.') && strings.ToLower(name) == name:
		return true
	}
	return declared[name]
}
