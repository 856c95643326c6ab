package vfs

import (
	"io/fs"
	"strings"
)

// checkName refuses what is not a single path element. Backslashes are refused
// everywhere so that a directory can be carried to any system.
func checkName(operation, directory, name string) error {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\\\x00") {
		return &fs.PathError{Op: operation, Path: directory + "/" + name, Err: ErrName}
	}
	return nil
}

// splitPath returns the elements of a path below the root, none for the root.
func splitPath(operation, path string) ([]string, error) {
	if path == "." {
		return nil, nil
	}
	elements := strings.Split(path, "/")
	for _, element := range elements {
		if checkName(operation, "", element) != nil {
			return nil, &fs.PathError{Op: operation, Path: path, Err: ErrName}
		}
	}
	return elements, nil
}
