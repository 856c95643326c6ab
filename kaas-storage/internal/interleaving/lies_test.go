package interleaving

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// Each function here is an engine with one rule of its safety argument taken out.

// commitWithoutCheck acknowledges without the fence check. Checks behind a manifest stay.
func commitWithoutCheck(_ *Owner) *liar {
	afterManifest := false
	return &liar{
		rename: func(d vfs.Dir, oldName, newName string) error {
			afterManifest = true
			return d.Rename(oldName, newName)
		},
		check: func(c vfs.Claim) error {
			if afterManifest {
				afterManifest = false
				return c.Check()
			}
			return nil
		},
	}
}

// removalWithoutCheck removes dead files behind a manifest whose check is left out. The takeover's own check stays.
func removalWithoutCheck(_ *Owner) *liar {
	manifests, afterManifest := 0, false
	return &liar{
		rename: func(d vfs.Dir, oldName, newName string) error {
			manifests++
			afterManifest = manifests > 1
			return d.Rename(oldName, newName)
		},
		check: func(c vfs.Claim) error {
			if afterManifest {
				afterManifest = false
				return nil
			}
			return c.Check()
		},
	}
}

// checkBeforeSync checks the claim before the data is durable, not after.
func checkBeforeSync(o *Owner) *liar {
	var held vfs.Claim
	var early *error
	return &liar{
		sync: func(_ vfs.Dir, f vfs.File) error {
			if held != nil && isLog(f.Name()) {
				err := held.Check()
				early = &err
				if err := o.Pause("sync after the check"); err != nil {
					return err
				}
			}
			return f.Sync()
		},
		check: func(c vfs.Claim) error {
			held = c
			if early != nil {
				err := *early
				early = nil
				return err
			}
			return c.Check()
		},
	}
}

// oneListing removes the lower claims and goes on with the listing made before.
func oneListing(_ *Owner) *liar {
	var before []vfs.Entry
	removed := map[string]bool{}
	return &liar{
		list: func(d vfs.Dir) ([]vfs.Entry, error) {
			if len(removed) > 0 {
				entries := slices.DeleteFunc(before, func(e vfs.Entry) bool { return removed[e.Name] })
				clear(removed)
				return entries, nil
			}
			entries, err := d.List()
			before = slices.Clone(entries)
			return entries, err
		},
		rmdir: func(d vfs.Dir, name string) error {
			removed[name] = true
			return d.Rmdir(name)
		},
	}
}

// neverGivesWay does not see names above its own claim.
func neverGivesWay(_ *Owner) *liar {
	own := uint64(0)
	return &liar{
		mkdir: func(d vfs.Dir, name string) error {
			err := d.Mkdir(name)
			if err == nil {
				own, _ = epochOf(name)
			}
			return err
		},
		list: func(d vfs.Dir) ([]vfs.Entry, error) {
			entries, err := d.List()
			return slices.DeleteFunc(entries, func(e vfs.Entry) bool {
				epoch, ok := epochOf(e.Name)
				return ok && own > 0 && epoch > own
			}), err
		},
	}
}

// ownEpochUnseen does not see what another leader has written at the epoch of its own claim: the name was free again when it was made, because that leader
// had handed over. Nothing is hidden once it has written a manifest of its own.
func ownEpochUnseen(_ *Owner) *liar {
	claimed, own, written := false, uint64(0), false
	return &liar{
		mkdir: func(d vfs.Dir, name string) error {
			err := d.Mkdir(name)
			if err == nil {
				own, claimed = epochOf(name)
			}
			return err
		},
		rename: func(d vfs.Dir, oldName, newName string) error {
			written = true
			return d.Rename(oldName, newName)
		},
		list: func(d vfs.Dir) ([]vfs.Entry, error) {
			entries, err := d.List()
			return slices.DeleteFunc(entries, func(e vfs.Entry) bool {
				epoch, is := epochOf(e.Name)
				return claimed && !written && is && epoch == own && !e.IsDir
			}), err
		},
	}
}

// noTail does not see the log files of others, so that it ends the log at the recovery point.
func noTail(_ *Owner) *liar {
	claimed := false
	return &liar{
		mkdir: func(d vfs.Dir, name string) error {
			claimed = true
			return d.Mkdir(name)
		},
		list: func(d vfs.Dir) ([]vfs.Entry, error) {
			entries, err := d.List()
			return slices.DeleteFunc(entries, func(e vfs.Entry) bool { return claimed && isLog(e.Name) }), err
		},
	}
}

// tailNotSynced shows a copied tail before it is durable.
func tailNotSynced(_ *Owner) *liar {
	taken := false
	return &liar{
		rename: func(d vfs.Dir, oldName, newName string) error {
			taken = true
			return d.Rename(oldName, newName)
		},
		sync: func(_ vfs.Dir, f vfs.File) error {
			if !taken && isLog(f.Name()) {
				return nil
			}
			return f.Sync()
		},
	}
}

// checkBeforeManifest checks the claim and then writes the first manifest. The directory stays open: opening it again would be a check behind the manifest.
func checkBeforeManifest(o *Owner) *liar {
	var put func() error
	var directory vfs.Dir
	first := true
	return &liar{
		rename: func(d vfs.Dir, oldName, newName string) error {
			if !first {
				return d.Rename(oldName, newName)
			}
			first, directory = false, d
			put = func() error {
				if err := o.Pause("manifest after the check"); err != nil {
					return err
				}
				if err := d.Rename(oldName, newName); err != nil {
					return err
				}
				return d.Sync()
			}
			return nil
		},
		check: func(c vfs.Claim) error {
			err := c.Check()
			if err == nil && put != nil {
				err = put()
				put = nil
			}
			return err
		},
		parent: func() (vfs.Dir, error) { return directory, nil },
	}
}

// filesBeforeManifest removes dead files before the manifest says that they are dead.
func filesBeforeManifest(_ *Owner) *liar {
	return &liar{
		write: func(d vfs.Dir, f vfs.File, p []byte, off int64) (int, error) {
			if strings.Contains(f.Name(), "manifest") {
				if err := removeBelow(d, logStartOf(p)); err != nil {
					return 0, err
				}
			}
			return f.WriteAt(p, off)
		},
	}
}

// claimsNotSynced leaves the sync out that follows the removal of lower claims.
func claimsNotSynced(_ *Owner) *liar {
	removed := false
	return &liar{
		rmdir: func(d vfs.Dir, name string) error {
			removed = true
			return d.Rmdir(name)
		},
		syncDir: func(d vfs.Dir) error {
			if removed {
				removed = false
				return nil
			}
			return d.Sync()
		},
	}
}

// claimNotSynced removes lower claims before its own claim is durable.
func claimNotSynced(_ *Owner) *liar {
	made := false
	return &liar{
		mkdir: func(d vfs.Dir, name string) error {
			made = true
			return d.Mkdir(name)
		},
		syncDir: func(d vfs.Dir) error {
			if made {
				made = false
				return nil
			}
			return d.Sync()
		},
	}
}

// abortedNotSynced moves the recovery point without syncing the transaction index first.
func abortedNotSynced(_ *Owner) *liar {
	return &liar{
		sync: func(_ vfs.Dir, f vfs.File) error {
			if strings.HasSuffix(f.Name(), ".txnindex") {
				return nil
			}
			return f.Sync()
		},
	}
}

func isLog(name string) bool { return strings.HasSuffix(name, ".log") }

// epochOf is the epoch in a name of any kind.
func epochOf(name string) (uint64, bool) {
	for _, part := range strings.Split(name, ".") {
		if epoch, err := strconv.ParseUint(part, 16, 32); len(part) == 8 && err == nil {
			return epoch, true
		}
	}
	return 0, false
}

func logStartOf(manifest []byte) int64 {
	var envelope struct {
		Body struct {
			LogStart int64 `json:"logStart"`
		} `json:"body"`
	}
	if json.Unmarshal(manifest, &envelope) != nil {
		return 0
	}
	return envelope.Body.LogStart
}

// removeBelow removes every log file that is followed by one that begins at or below the log start.
func removeBelow(d vfs.Dir, logStart int64) error {
	entries, err := d.List()
	if err != nil {
		return err
	}
	entries = slices.DeleteFunc(entries, func(e vfs.Entry) bool { return !isLog(e.Name) })
	for i, e := range entries {
		var next int64
		if i+1 == len(entries) {
			break
		}
		if _, err := fmt.Sscanf(entries[i+1].Name, "%020d", &next); err != nil || next > logStart {
			return err
		}
		if err := d.Remove(e.Name); err != nil {
			return err
		}
	}
	return nil
}
