package coordinator_test

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

// TestDesignNamesWhatExists keeps DESIGN.md true: each name in backquotes that looks like a file or an identifier must exist.
func TestDesignNamesWhatExists(t *testing.T) {
	text, err := os.ReadFile("DESIGN.md")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{"slot": true, "group": true, "offset": true, "txn": true, "order": true, "DeleteRecords": true}
	declare(t, names, ".", "")
	for _, folder := range []string{"slot", "group", "offset", "txn"} {
		declare(t, names, folder, folder+".")
	}
	looksLikeName := regexp.MustCompile("`([A-Za-z_/.]+)`")
	checked := 0
	for _, match := range looksLikeName.FindAllStringSubmatch(string(text), -1) {
		name := match[1]
		checked++
		if strings.HasSuffix(name, ".go") {
			if _, err := os.Stat(name); err != nil {
				t.Errorf("DESIGN.md names the file %s: %v", name, err)
			}
		} else if !names[name] {
			t.Errorf("DESIGN.md names %s, which is not declared", name)
		}
	}
	if checked < 60 {
		t.Errorf("only %d names found", checked)
	}
}

// declare collects types, functions, values, and fields and methods as Type.name, of one package.
func declare(t *testing.T, names map[string]bool, folder, prefix string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, declaration := range file.Decls {
			switch d := declaration.(type) {
			case *ast.FuncDecl:
				names[prefix+receiver(d)+d.Name.Name] = true
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					addSpec(names, prefix, spec)
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
	if generic, is := of.(*ast.IndexExpr); is {
		of = generic.X
	}
	if name, is := of.(*ast.Ident); is {
		return name.Name + "."
	}
	return ""
}

func addSpec(names map[string]bool, prefix string, spec ast.Spec) {
	if values, is := spec.(*ast.ValueSpec); is {
		for _, name := range values.Names {
			names[prefix+name.Name] = true
		}
	}
	declared, is := spec.(*ast.TypeSpec)
	if !is {
		return
	}
	names[prefix+declared.Name.Name] = true
	var fields *ast.FieldList
	switch of := declared.Type.(type) {
	case *ast.StructType:
		fields = of.Fields
	case *ast.InterfaceType:
		fields = of.Methods
	default:
		return
	}
	for _, field := range fields.List {
		for _, name := range field.Names {
			names[prefix+declared.Name.Name+"."+name.Name] = true
		}
	}
}
