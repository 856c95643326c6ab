package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// names holds what packages declare: functions, types, values, and fields and methods as Type.member.
type names map[string]bool

// addModule adds the packages of a module, nested modules left out. The first package of one's own module is added without its name, too.
func (n names) addModule(module string, own bool) error {
	return filepath.WalkDir(module, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil && path != module {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		n.addFile(file, strings.TrimSuffix(file.Name.Name, "_test")+".")
		if own && filepath.Dir(path) == filepath.Clean(module) {
			n.addFile(file, "")
		}
		return nil
	})
}

func (n names) addFile(file *ast.File, prefix string) {
	for _, declaration := range file.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			n[prefix+receiver(d)+d.Name.Name] = true
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				n.addSpec(spec, prefix)
			}
		}
	}
}

func (n names) addSpec(spec ast.Spec, prefix string) {
	switch s := spec.(type) {
	case *ast.ValueSpec:
		for _, value := range s.Names {
			n[prefix+value.Name] = true
		}
	case *ast.TypeSpec:
		n[prefix+s.Name.Name] = true
		for _, member := range members(s.Type) {
			for _, name := range member.Names {
				n[prefix+s.Name.Name+"."+name.Name] = true
			}
		}
	}
}

func members(of ast.Expr) []*ast.Field {
	switch t := of.(type) {
	case *ast.StructType:
		return t.Fields.List
	case *ast.InterfaceType:
		return t.Methods.List
	}
	return nil
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
