package broker

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// siblings are packages of other modules that DESIGN.md names, by where they lie in the repository.
var siblings = map[string]string{
	"storage": "../kaas-storage", "topicdir": "../kaas-storage/topicdir", "clusterdir": "../kaas-storage/clusterdir",
	"batch": "../kaas-codec/batch", "protocol": "../kaas-protocol", "coordinator": "../kaas-coordinator", "slot": "../kaas-coordinator/slot",
}

// TestDesignNamesWhatExists keeps DESIGN.md true: each path in backquotes is there, and each name with its package is declared.
func TestDesignNamesWhatExists(t *testing.T) {
	text, err := os.ReadFile("DESIGN.md")
	if err != nil {
		t.Fatal(err)
	}
	names := declaredHere(t)
	for name, dir := range siblings {
		if _, err := os.Stat(dir); err != nil {
			t.Skipf("needs the other modules beside this one: %v", err)
		}
		declare(t, names, name, dir)
	}
	looksLikeName := regexp.MustCompile("`([a-z]+(?:\\.[A-Za-z]+)+)`")
	checked := 0
	for _, match := range looksLikeName.FindAllStringSubmatch(string(text), -1) {
		name := match[1]
		checked++
		if strings.HasSuffix(name, ".go") {
			checkPath(t, name)
		} else if !names[name] {
			t.Errorf("DESIGN.md names %s, which is not declared", name)
		}
	}
	looksLikePath := regexp.MustCompile("`((?:internal|cmd)/[a-z_/]+(?:\\.go)?)`")
	for _, match := range looksLikePath.FindAllStringSubmatch(string(text), -1) {
		checked++
		checkPath(t, match[1])
	}
	if checked < 80 {
		t.Errorf("only %d names found", checked)
	}
}

func checkPath(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		t.Errorf("DESIGN.md names a file that is not there: %v", err)
	}
}

// declaredHere collects what the packages of this module declare, nested modules left out.
func declaredHere(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil && path != "." {
			return filepath.SkipDir
		}
		declare(t, names, "", path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// declare adds package.Function, package.Type and package.Type.member for each file of a directory; an empty package name is that of the file.
func declare(t *testing.T, names map[string]bool, as, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		prefix := as
		if prefix == "" {
			prefix = file.Name.Name
		}
		for _, declaration := range file.Decls {
			switch d := declaration.(type) {
			case *ast.FuncDecl:
				names[prefix+"."+receiver(d)+d.Name.Name] = true
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					declareSpec(names, prefix, spec)
				}
			}
		}
	}
}

// receiver is "Type." for a method and empty for a function.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	of := d.Recv.List[0].Type
	if pointer, is := of.(*ast.StarExpr); is {
		of = pointer.X
	}
	if name, is := of.(*ast.Ident); is {
		return name.Name + "."
	}
	return ""
}

func declareSpec(names map[string]bool, prefix string, spec ast.Spec) {
	switch s := spec.(type) {
	case *ast.ValueSpec:
		for _, name := range s.Names {
			names[prefix+"."+name.Name] = true
		}
	case *ast.TypeSpec:
		names[prefix+"."+s.Name.Name] = true
		structure, is := s.Type.(*ast.StructType)
		if !is {
			return
		}
		for _, field := range structure.Fields.List {
			for _, name := range field.Names {
				names[prefix+"."+s.Name.Name+"."+name.Name] = true
			}
		}
	}
}
