package vfs_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// One random program on memory and disk must see the same answers, errors included.
func TestMemIsLikeLinux(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			disk := &player{root: openDir(t, openOS(t, t.TempDir()), "."), random: rand.New(rand.NewPCG(seed, 3))}
			mem := &player{root: openDir(t, vfs.NewMem(64<<20), "."), random: rand.New(rand.NewPCG(seed, 3))}
			defer disk.close()
			defer mem.close()
			for step := range 400 {
				want, got := disk.step(), mem.step()
				if want != got {
					t.Fatalf("step %d: %s in memory, on disk %s", step, got, want)
				}
			}
		})
	}
}

// player makes random operations and tells them with their results.
type player struct {
	root   vfs.Dir
	random *rand.Rand
	dirs   []vfs.Dir
	files  []vfs.File
	claims []vfs.Claim
}

func (p *player) close() {
	for _, dir := range p.dirs {
		dir.Close()
	}
	for _, file := range p.files {
		file.Close()
	}
	for _, claim := range p.claims {
		claim.Close()
	}
}

func (p *player) step() string {
	dir := p.root
	if n := p.random.IntN(len(p.dirs) + 1); n > 0 {
		dir = p.dirs[n-1]
	}
	name, other := string('a'+rune(p.random.IntN(4))), string('a'+rune(p.random.IntN(4)))
	switch p.random.IntN(12) {
	case 0:
		return fmt.Sprint("mkdir ", name, code(dir.Mkdir(name)))
	case 1:
		return fmt.Sprint("rmdir ", name, code(dir.Rmdir(name)))
	case 2:
		return fmt.Sprint("remove ", name, code(dir.Remove(name)))
	case 3:
		return fmt.Sprint("rename ", name, other, code(dir.Rename(name, other)))
	case 4:
		entries, err := dir.List()
		return fmt.Sprint("list ", entries, code(err))
	case 5:
		entry, err := dir.Stat(name)
		return fmt.Sprint("stat ", entry.Name, entry.IsDir, entry.Size, code(err))
	case 6:
		file, err := dir.Create(name)
		return fmt.Sprint("create ", name, keep(&p.files, file, err))
	case 7:
		open := dir.Open
		if p.random.IntN(2) == 0 {
			open = dir.OpenWrite
		}
		file, err := open(name)
		return fmt.Sprint("open ", name, keep(&p.files, file, err))
	case 8:
		child, err := dir.OpenDir(name)
		return fmt.Sprint("open directory ", name, keep(&p.dirs, child, err))
	case 9:
		claim, err := dir.Hold(name)
		return fmt.Sprint("hold ", name, keep(&p.claims, claim, err))
	case 10:
		return p.useFile()
	default:
		text := "check"
		for _, claim := range p.claims {
			text += code(claim.Check())
		}
		return text
	}
}

func (p *player) useFile() string {
	if len(p.files) == 0 {
		return "no file"
	}
	file := p.files[p.random.IntN(len(p.files))]
	off, size := int64(p.random.IntN(9000)), p.random.IntN(9000)
	written, writeErr := file.WriteVec([][]byte{make([]byte, size/2), []byte("xyz")}, off)
	buffer := make([]byte, 10)
	n, readErr := file.ReadAt(buffer, off+int64(size/2)-2)
	length, sizeErr := file.Size()
	return fmt.Sprint("file ", written, code(writeErr), n, buffer, code(readErr), length, code(sizeErr))
}

func keep[H any](handles *[]H, handle H, err error) string {
	if err == nil {
		*handles = append(*handles, handle)
	}
	return code(err)
}

// code is the system's error, or what else can be branched on.
func code(err error) string {
	var number syscall.Errno
	switch {
	case err == nil:
		return " ok "
	case errors.As(err, &number):
		return fmt.Sprintf(" %v ", number)
	case errors.Is(err, vfs.ErrUnlinked):
		return " unlinked "
	default:
		return fmt.Sprintf(" %v ", err)
	}
}
