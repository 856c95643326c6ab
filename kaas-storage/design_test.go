package storage_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDesignNamesWhatExists keeps DESIGN.md true: each name in backquotes that looks like a file or an
// identifier must exist in this package.
func TestDesignNamesWhatExists(t *testing.T) {
	text, err := os.ReadFile("DESIGN.md")
	if err != nil {
		t.Fatal(err)
	}
	names := declared(t)
	looksLikeName := regexp.MustCompile("`([A-Za-z_]+(?:\\.[A-Za-z_]+)?)`")
	checked := 0
	for _, match := range looksLikeName.FindAllStringSubmatch(string(text), -1) {
		name := match[1]
		checked++
		if strings.HasSuffix(name, ".go") {
			if _, err := os.Stat(name); err != nil {
				t.Errorf("DESIGN.md names the file %s: %v", name, err)
			}
			continue
		}
		if !names[name] {
			t.Errorf("DESIGN.md names %s, which the package does not declare", name)
		}
	}
	if checked < 40 {
		t.Errorf("only %d names found", checked)
	}
}

// declared collects types, functions, and fields and methods as Type.name.
func declared(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	names := make(map[string]bool)
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, declaration := range file.Decls {
			switch d := declaration.(type) {
			case *ast.FuncDecl:
				names[receiver(d)+d.Name.Name] = true
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					addType(names, spec)
				}
			}
		}
	}
	return names
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
	if generic, is := of.(*ast.IndexExpr); is {
		of = generic.X
	}
	if name, is := of.(*ast.Ident); is {
		return name.Name + "."
	}
	return ""
}

func addType(names map[string]bool, spec ast.Spec) {
	declared, is := spec.(*ast.TypeSpec)
	if !is {
		return
	}
	names[declared.Name.Name] = true
	structure, is := declared.Type.(*ast.StructType)
	if !is {
		return
	}
	for _, field := range structure.Fields.List {
		for _, name := range field.Names {
			names[declared.Name.Name+"."+name.Name] = true
			names[name.Name] = names[name.Name] || ast.IsExported(name.Name)
		}
	}
}
