package broker_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"

	broker "github.com/kaas-rs/kaas/kaas-broker"
)

// deafFS is a file system on which nobody learns that a held directory was removed.
type deafFS struct{ vfs.FS }

type deafDir struct{ vfs.Dir }

type deafClaim struct{ vfs.Claim }

func (f deafFS) OpenDir(path string) (vfs.Dir, error) { return deaf(f.FS.OpenDir(path)) }

func (d deafDir) OpenDir(name string) (vfs.Dir, error) { return deaf(d.Dir.OpenDir(name)) }

func deaf(d vfs.Dir, err error) (vfs.Dir, error) {
	if err != nil {
		return nil, err
	}
	return deafDir{d}, nil
}

func (d deafDir) Hold(name string) (vfs.Claim, error) {
	c, err := d.Dir.Hold(name)
	return deafClaim{c}, err
}

func (deafClaim) Check() error { return nil }

// Neither records nor what the cluster directory holds are safe where a deposed owner is not fenced.
func TestDirectoriesThatDoNotFenceAreRefused(t *testing.T) {
	for _, refused := range []string{"data directory", "cluster directory"} {
		t.Run(refused, func(t *testing.T) {
			data := t.TempDir()
			opened := 0
			_, err := broker.Open(t.Context(), broker.Options{
				Config: load(t, "--health-addr", "off", "--data-dir", data, "--listeners", "PLAINTEXT://"+freeAddress(t)),
				WrapFS: func(fs vfs.FS) vfs.FS {
					opened++ // the data directory's comes first
					if (opened == 1) == (refused == "data directory") {
						return deafFS{fs}
					}
					return fs
				},
			})
			if !errors.Is(err, storage.ErrNotFencing) || !strings.HasPrefix(err.Error(), refused) {
				t.Errorf("%v, want %v for the %s", err, storage.ErrNotFencing, refused)
			}
		})
	}
}
