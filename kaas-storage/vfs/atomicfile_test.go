package vfs_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// everyCut calls check with what power cuts before and after each changing
// operation of run can leave: nothing, all, each single and 32 seeded subsets
// of the unsynced changes.
func everyCut(t *testing.T, run func(vfs.FS) error, check func(cut vfs.FS) error) (violations int) {
	t.Helper()
	crash := vfs.NewCrash(0)
	cuts := 0
	try := func(op vfs.Op, label string, choose vfs.Choice) {
		cuts++
		if err := check(crash.PowerCut(choose)); err != nil {
			violations++
			t.Logf("%v, %s survives: %v", op, label, err)
		}
	}
	err := run(vfs.NewFault(crash, func(op vfs.Op) error {
		if !op.Kind.Mutating() {
			return nil
		}
		try(op, "nothing", vfs.SurviveNone)
		try(op, "all", vfs.SurviveAll)
		for i, pending := range crash.Pending() {
			try(op, pending.String(), vfs.SurviveOnly(i))
		}
		for seed := range uint64(32) {
			try(op, fmt.Sprint("seed ", seed), vfs.SurviveSeeded(seed))
		}
		return nil
	}))
	must(t, err)
	if cuts < 100 {
		t.Errorf("only %d cuts", cuts)
	}
	return violations
}

var (
	oldContent = bytes.Repeat([]byte("old "), 700)
	newContent = bytes.Repeat([]byte("NEW."), 900)
)

// replacing is a program that writes old content well and then new content in some way.
func replacing(write func(dir vfs.Dir, name string, data []byte) error) func(vfs.FS) error {
	return func(fsys vfs.FS) error {
		dir, err := fsys.OpenDir(".")
		if err != nil {
			return err
		}
		defer dir.Close()
		if err := vfs.WriteFileAtomic(dir, "f", oldContent); err != nil {
			return err
		}
		if err := vfs.WriteFileAtomic(dir, "written", nil); err != nil {
			return err
		}
		if err := write(dir, "f", newContent); err != nil {
			return err
		}
		return vfs.WriteFileAtomic(dir, "replaced", nil)
	}
}

// whole checks that a file holds what its last completed writer wrote, or what the next one did.
func whole(cut vfs.FS) error {
	dir, err := cut.OpenDir(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	got, err := vfs.ReadFile(dir, "f", 1<<20)
	_, beforeErr := dir.Stat("written")
	_, afterErr := dir.Stat("replaced")
	switch {
	case err != nil && beforeErr != nil:
		return nil
	case err != nil:
		return err
	case bytes.Equal(got, oldContent) && afterErr != nil, bytes.Equal(got, newContent):
		return nil
	}
	return errors.New("neither the old content nor the new")
}

func TestWriteFileAtomicSurvivesPowerCuts(t *testing.T) {
	if violations := everyCut(t, replacing(vfs.WriteFileAtomic), whole); violations > 0 {
		t.Errorf("%d violations", violations)
	}
}

// The same check must notice each step that is left out.
func TestPowerCutsFindCarelessWriters(t *testing.T) {
	for name, write := range map[string]func(dir vfs.Dir, name string, data []byte) error{
		"in place": func(dir vfs.Dir, name string, data []byte) error {
			file, err := dir.OpenWrite(name)
			if err != nil {
				return err
			}
			defer file.Close()
			_, err = file.WriteAt(data, 0)
			return errors.Join(err, file.Sync(), dir.Sync())
		},
		"without file sync":      func(dir vfs.Dir, name string, data []byte) error { return careless(dir, name, data, false, true) },
		"without directory sync": func(dir vfs.Dir, name string, data []byte) error { return careless(dir, name, data, true, false) },
	} {
		t.Run(name, func(t *testing.T) {
			if everyCut(t, replacing(write), whole) == 0 {
				t.Error("nothing was found")
			}
		})
	}
}

func careless(dir vfs.Dir, name string, data []byte, syncFile, syncDir bool) error {
	file, err := dir.Create("temporary")
	if err != nil {
		return err
	}
	_, err = file.WriteAt(data, 0)
	if syncFile {
		err = errors.Join(err, file.Sync())
	}
	err = errors.Join(err, file.Close(), dir.Rename("temporary", name))
	if syncDir {
		err = errors.Join(err, dir.Sync())
	}
	return err
}
