package interleaving

import (
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// watchedFS tells the judge what the server truly answered to each check of a claim. It lies below whatever deceives the engine.
type watchedFS struct {
	vfs.FS
	owner *Owner
}

func (f watchedFS) OpenDir(path string) (vfs.Dir, error) { return watch(f.owner)(f.FS.OpenDir(path)) }

func watch(o *Owner) func(vfs.Dir, error) (vfs.Dir, error) {
	return func(d vfs.Dir, err error) (vfs.Dir, error) {
		if err != nil {
			return nil, err
		}
		return watchedDir{d, o}, nil
	}
}

type watchedDir struct {
	vfs.Dir
	owner *Owner
}

func (d watchedDir) OpenDir(name string) (vfs.Dir, error) { return watch(d.owner)(d.Dir.OpenDir(name)) }

func (d watchedDir) Hold(name string) (vfs.Claim, error) {
	held, err := d.Dir.Hold(name)
	if err != nil {
		return nil, err
	}
	return watchedClaim{held, d.owner, name}, nil
}

type watchedClaim struct {
	vfs.Claim
	owner *Owner
	name  string
}

func (c watchedClaim) Check() error {
	err := c.Claim.Check()
	if err == nil {
		c.owner.world.judge.checkSucceeded(c.owner, c.name)
	}
	return err
}

func (c watchedClaim) Parent() (vfs.Dir, error) { return watch(c.owner)(c.Claim.Parent()) }
