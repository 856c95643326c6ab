// Command design keeps the DESIGN.md of a module true: each file, folder and identifier that stands there in backquotes has to exist.
//
//	design MODULE [OTHER MODULE]...
//
// Identifiers of the module's first package stand alone (Partition.Append), those of its other packages and of other modules behind the package's
// name (batch.Next). What has neither a dot, nor a slash, nor an upper case letter is prose. The exit code is 1 when something is missing.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: design MODULE [OTHER MODULE]...")
		os.Exit(2)
	}
	missing, err := check(os.Args[1], os.Args[2:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "design:", err)
		os.Exit(2)
	}
	for _, name := range missing {
		fmt.Fprintf(os.Stderr, "%s names %s, which does not exist\n", filepath.Join(os.Args[1], document), name)
	}
	if len(missing) > 0 {
		os.Exit(1)
	}
}
