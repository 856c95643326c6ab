package vfs_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// tree describes everything below a directory: "dir/", "file=content".
func tree(t testing.TB, dir vfs.Dir, prefix string) []string {
	t.Helper()
	entries, err := dir.List()
	must(t, err)
	var all []string
	for _, entry := range entries {
		if !entry.IsDir {
			all = append(all, prefix+entry.Name+"="+read(t, dir, entry.Name))
			continue
		}
		child, err := dir.OpenDir(entry.Name)
		must(t, err)
		all = append(all, prefix+entry.Name+"/")
		all = append(all, tree(t, child, prefix+entry.Name+"/")...)
		must(t, child.Close())
	}
	return all
}

func after(t testing.TB, crash *vfs.Crash, choose vfs.Choice) string {
	t.Helper()
	return strings.Join(tree(t, openDir(t, crash.PowerCut(choose), "."), ""), " ")
}

// outcomes returns what a power cut can leave, over all subsets.
func outcomes(t testing.TB, crash *vfs.Crash) []string {
	t.Helper()
	count := len(crash.Pending())
	if count > 12 {
		t.Fatalf("%d changes are too many for all subsets", count)
	}
	seen := make(map[string]bool)
	for subset := range 1 << count {
		seen[after(t, crash, func(pending []vfs.Pending) []bool {
			survive := make([]bool, len(pending))
			for i := range survive {
				survive[i] = subset>>i&1 == 1
			}
			return survive
		})] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

// crashCase is a program and all that a power cut at its end may leave.
type crashCase struct {
	name string
	run  func(t *testing.T, dir vfs.Dir)
	want []string
}

func crashCases() []crashCase {
	return []crashCase{
		{"nothing", func(*testing.T, vfs.Dir) {}, []string{""}},
		{"a file without any sync", func(t *testing.T, dir vfs.Dir) {
			create(t, dir, "f", "abc")
		}, []string{"", "f=", "f=\x00\x00\x00", "f=\x00\x00c", "f=\x00b", "f=\x00b\x00", "f=\x00bc", "f=a", "f=a\x00\x00", "f=a\x00c", "f=ab", "f=ab\x00", "f=abc"}},
		{"a synced file without its name", func(t *testing.T, dir vfs.Dir) {
			must(t, create(t, dir, "f", "abc").Sync())
		}, []string{"", "f=abc"}},
		{"a synced name without content", func(t *testing.T, dir vfs.Dir) {
			create(t, dir, "f", "a")
			must(t, dir.Sync())
		}, []string{"f=", "f=\x00", "f=a"}},
		{"everything synced", func(t *testing.T, dir vfs.Dir) {
			must(t, create(t, dir, "f", "a").Sync())
			must(t, dir.Sync())
		}, []string{"f=a"}},
		{"overwritten after the sync", func(t *testing.T, dir vfs.Dir) {
			file := synced(t, dir, "f", "ab")
			_, err := file.WriteAt([]byte("c"), 1)
			must(t, err)
		}, []string{"f=ab", "f=ac"}},
		{"synced through another handle", func(t *testing.T, dir vfs.Dir) {
			file := synced(t, dir, "f", "a")
			_, err := file.WriteAt([]byte("b"), 0)
			must(t, err)
			other, err := dir.Open("f")
			must(t, err)
			must(t, other.Sync())
			must(t, other.Close())
		}, []string{"f=b"}},
		{"a truncation is whole or not at all", func(t *testing.T, dir vfs.Dir) {
			must(t, synced(t, dir, "f", "abc").(vfs.Extender).Truncate(1))
		}, []string{"f=a", "f=abc"}},
		{"a synced truncation, and growth over what was cut off", func(t *testing.T, dir vfs.Dir) {
			file := synced(t, dir, "f", "abc")
			must(t, file.(vfs.Extender).Truncate(1))
			must(t, file.Sync())
			_, err := file.WriteAt([]byte("d"), 3)
			must(t, err)
		}, []string{"f=a", "f=a\x00\x00\x00", "f=a\x00\x00d"}},
		{"zeros ahead, and what is written over them when they are synced", func(t *testing.T, dir vfs.Dir) {
			file := synced(t, dir, "f", "a")
			must(t, file.(vfs.Extender).Extend(1, 2))
			must(t, file.Sync())
			_, err := file.WriteAt([]byte("b"), 1)
			must(t, err)
		}, []string{"f=a\x00\x00", "f=ab\x00"}},
		{"a rename is whole or not at all", func(t *testing.T, dir vfs.Dir) {
			synced(t, dir, "new", "n")
			synced(t, dir, "f", "o")
			must(t, dir.Rename("new", "f"))
		}, []string{"f=n", "f=o new=n"}},
		{"a rename of an unsynced file", func(t *testing.T, dir vfs.Dir) {
			synced(t, dir, "f", "o")
			must(t, create(t, dir, "new", "n").Close())
			must(t, dir.Rename("new", "f"))
		}, []string{"f=", "f=\x00", "f=n", "f=o", "f=o new=", "f=o new=\x00", "f=o new=n"}},
		{"two renames give one name", func(t *testing.T, dir vfs.Dir) {
			synced(t, dir, "a", "x")
			must(t, dir.Rename("a", "b"))
			must(t, dir.Rename("b", "c"))
		}, []string{"a=x", "b=x", "c=x"}},
		{"a rename whose result is removed", func(t *testing.T, dir vfs.Dir) {
			synced(t, dir, "f", "o")
			synced(t, dir, "new", "n")
			must(t, dir.Rename("new", "f"))
			must(t, dir.Remove("f"))
		}, []string{"", "f=n", "f=o new=n"}},
		{"a removal", func(t *testing.T, dir vfs.Dir) {
			synced(t, dir, "f", "a")
			must(t, dir.Remove("f"))
		}, []string{"", "f=a"}},
		{"a removal of unsynced bytes", func(t *testing.T, dir vfs.Dir) {
			file := synced(t, dir, "f", "a")
			_, err := file.WriteAt([]byte("b"), 0)
			must(t, err)
			must(t, file.Close())
			must(t, dir.Remove("f"))
		}, []string{"", "f=a", "f=b"}},
		{"removed and made anew", func(t *testing.T, dir vfs.Dir) {
			synced(t, dir, "f", "a")
			must(t, dir.Remove("f"))
			must(t, create(t, dir, "f", "b").Sync())
		}, []string{"", "f=a", "f=b"}},
		{"a claim", func(t *testing.T, dir vfs.Dir) {
			must(t, dir.Mkdir("old"))
			must(t, dir.Sync())
			must(t, dir.Mkdir("new"))
			must(t, dir.Rmdir("old"))
		}, []string{"", "new/", "new/ old/", "old/"}},
		{"a directory synced before its parent", func(t *testing.T, dir vfs.Dir) {
			must(t, dir.Mkdir("d"))
			synced(t, openChild(t, dir, "d"), "f", "a")
		}, []string{"", "d/ d/f=a"}},
		{"a directory synced without its content", func(t *testing.T, dir vfs.Dir) {
			must(t, dir.Mkdir("d"))
			must(t, create(t, openChild(t, dir, "d"), "f", "a").Sync())
			must(t, dir.Sync())
		}, []string{"d/", "d/ d/f=a"}},
	}
}

func openChild(t testing.TB, dir vfs.Dir, name string) vfs.Dir {
	t.Helper()
	child, err := dir.OpenDir(name)
	must(t, err)
	t.Cleanup(func() { child.Close() })
	return child
}

func synced(t testing.TB, dir vfs.Dir, name, content string) vfs.File {
	t.Helper()
	file := create(t, dir, name, content)
	must(t, file.Sync())
	must(t, dir.Sync())
	return file
}

func TestPowerCutOutcomes(t *testing.T) {
	for _, test := range crashCases() {
		t.Run(test.name, func(t *testing.T) {
			crash := vfs.NewCrash(0)
			dir := openDir(t, crash, ".")
			test.run(t, dir)
			nothing := after(t, crash, vfs.SurviveNone)
			if got := outcomes(t, crash); !slices.Equal(got, test.want) {
				t.Errorf("outcomes are %q, want %q", got, test.want)
			}
			if got := after(t, crash, vfs.SurviveNone); got != nothing {
				t.Errorf("other cuts have changed %q to %q", nothing, got)
			}
			live := strings.Join(tree(t, dir, ""), " ")
			if got := after(t, crash, vfs.SurviveAll); got != live {
				t.Errorf("if all survives there is %q instead of %q", got, live)
			}
		})
	}
}

func TestPendingDescribesChanges(t *testing.T) {
	crash := vfs.NewCrash(0)
	must(t, crash.MkdirAll("d"))
	dir := openDir(t, crash, "d")
	file := create(t, dir, "f", strings.Repeat("x", 2000))
	_, err := file.WriteAt([]byte("y"), 0)
	must(t, err)
	must(t, dir.Rename("f", "g"))
	want := []string{
		"0: create d/f [0+0]",
		"1: grow d/f [0+2000]", "1: write d/f [0+512]", "1: write d/f [512+512]", "1: write d/f [1024+976]",
		"2: write d/f [0+1]",
		"3: rename d/f g[0+0]",
	}
	if got := crash.Pending(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("pending is %v, want %v", got, want)
	}
	must(t, file.Sync())
	must(t, dir.Sync())
	must(t, dir.Remove("g"))
	must(t, dir.Sync())
	_, err = file.WriteAt([]byte("z"), 0)
	must(t, err)
	if got := crash.Pending(); len(got) != 0 {
		t.Errorf("a file that is gone for good has pending %v", got)
	}
}

func TestChoices(t *testing.T) {
	pending := make([]vfs.Pending, 40)
	count := func(choose vfs.Choice) (n int) {
		for _, survives := range choose(pending) {
			if survives {
				n++
			}
		}
		return n
	}
	for name, test := range map[string]struct {
		choose vfs.Choice
		want   int
	}{
		"none": {vfs.SurviveNone, 0}, "all": {vfs.SurviveAll, 40},
		"only": {vfs.SurviveOnly(3), 1}, "only beyond": {vfs.SurviveOnly(40), 0}, "only before": {vfs.SurviveOnly(-1), 0},
	} {
		if got := count(test.choose); got != test.want {
			t.Errorf("%s: %d survive", name, got)
		}
	}
	if !vfs.SurviveOnly(3)(pending)[3] {
		t.Error("another one survives")
	}
	sizes := make(map[int]bool)
	for seed := range uint64(32) {
		if !slices.Equal(vfs.SurviveSeeded(seed)(pending), vfs.SurviveSeeded(seed)(pending)) {
			t.Error("a seed gives two answers")
		}
		sizes[count(vfs.SurviveSeeded(seed))] = true
	}
	if len(sizes) < 10 {
		t.Errorf("sizes of seeded subsets are %v", sizes)
	}
}

// After a power cut everything is durable, usable and counted, and the cut file system is unchanged.
func TestAfterThePowerCut(t *testing.T) {
	crash := vfs.NewCrash(1 << 20)
	dir := openDir(t, crash, ".")
	synced(t, dir, "f", strings.Repeat("a", 5000))
	create(t, dir, "g", "lost")
	cut := crash.PowerCut(vfs.SurviveNone)
	if len(cut.Pending()) != 0 || len(crash.Pending()) == 0 {
		t.Fatal("pending changes are on the wrong side")
	}
	reopened := openDir(t, cut, ".")
	file, err := reopened.OpenWrite("f")
	must(t, err)
	_, err = file.WriteAt([]byte("a"), 10)
	must(t, err)
	if kinds := fmt.Sprint(cut.Pending()); strings.Contains(kinds, "grow") {
		t.Errorf("pending is %v", kinds)
	}
	_, err = file.WriteAt([]byte("b"), 5000)
	must(t, err)
	if got := after(t, cut, vfs.SurviveNone); got != "f="+strings.Repeat("a", 5000) {
		t.Errorf("second cut leaves %.20q", got)
	}
	must(t, file.Sync())
	if got := after(t, cut, vfs.SurviveNone); got != "f="+strings.Repeat("a", 5000)+"b" {
		t.Errorf("third cut leaves %.20q", got)
	}
	if got := len(read(t, dir, "f")); got != 5000 {
		t.Errorf("the original has %d bytes", got)
	}
	must(t, file.Close())
	must(t, reopened.Remove("f"))
	if got := used(t, cut); got != 0 {
		t.Errorf("%d bytes are used", got)
	}
}

func TestPowerCutKeepsWhatWasWritten(t *testing.T) {
	crash := vfs.NewCrash(0)
	file := create(t, openDir(t, crash, "."), "f", "")
	buffer := []byte("written")
	_, err := file.WriteAt(buffer, 0)
	must(t, err)
	copy(buffer, "changed")
	if got := after(t, crash, vfs.SurviveAll); got != "f=written" {
		t.Errorf("left is %q", got)
	}
}
