package interleaving

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
	"github.com/kaas-rs/kaas/kaas-storage/vfs/fileserver"
)

// compactedSegments are small, and what deletes a key may go with the next compaction.
func compactedSegments() storage.Config {
	c := smallSegments()
	c.Compact, c.DeleteRetention = true, 0
	return c
}

// compacting is a leader that compacts a log of a few closed segments while another takes over.
func compacting() Plan {
	return Plan{
		Name:    "compacting leader and taker",
		Prelude: []Step{Take(), Append(0), Append(0), Append(0), Append(0), Append(0)},
		Owners: []OwnerPlan{
			{"old", "1", []Step{Compact(), Append(0)}},
			{"taker", "2", []Step{Take(), Append(0)}},
		},
		Config: compactedSegments(), Options: quiet(), Coarse: true,
	}
}

// compactingOwners are three that compact one after the other, or at once.
func compactingOwners() Plan {
	p := compacting()
	p.Name = "three owners that compact"
	p.Owners = []OwnerPlan{
		{"old", "1", []Step{Compact()}},
		{"first", "2", []Step{Take(), Compact(), Append(0)}},
		{"second", "3", []Step{Take(), Compact()}},
	}
	return p
}

// compactingBeside is a leader that moves its log start, hands over and appends while it compacts.
func compactingBeside() Plan {
	p := compacting()
	p.Name = "compaction beside deletion and handover"
	p.Owners = []OwnerPlan{
		{"old", "1", []Step{SendCompact(), DeleteRecords(2), Handover()}},
		{"taker", "2", []Step{Take(), Compact()}},
	}
	return p
}

// compactingTwice is a log that has been compacted, and is compacted again.
func compactingTwice() Plan {
	p := compacting()
	p.Name = "compaction of what is compacted"
	p.Prelude = append(p.Prelude, Compact(), Append(0), Append(0), Append(0))
	return p
}

// compactingTransactions is a log with an aborted transaction, and one that is open.
func compactingTransactions() Plan {
	p := compacting()
	p.Name = "compaction of transactions"
	p.Prelude = []Step{Take(), Transact(0), Transact(0), Append(0), Transact(1), Append(0), Append(0)}
	p.Owners = []OwnerPlan{
		{"old", "1", []Step{Compact(), Transact(1), Compact()}},
		{"taker", "2", []Step{Take(), Transact(1), Compact()}},
	}
	return p
}

// isCompacted recognizes the files of compaction: base, epoch, generation.
func isCompacted(name string) bool {
	return strings.Count(name, ".") == 3 && (isLog(name) || strings.HasSuffix(name, "index"))
}

// outputsNotSynced names files in the manifest that are not durable.
func outputsNotSynced(_ *Owner) *liar {
	return &liar{
		sync: func(_ vfs.Dir, f vfs.File) error {
			if isCompacted(f.Name()) {
				return nil
			}
			return f.Sync()
		},
	}
}

// outputNamesNotSynced names files in the manifest whose names are not durable.
func outputNamesNotSynced(_ *Owner) *liar {
	made := false
	return &liar{
		sync: func(_ vfs.Dir, f vfs.File) error {
			made = made || isCompacted(f.Name())
			return f.Sync()
		},
		syncDir: func(d vfs.Dir) error {
			if made {
				return nil
			}
			return d.Sync()
		},
		rename: func(d vfs.Dir, oldName, newName string) error {
			made = false
			return d.Rename(oldName, newName)
		},
	}
}

// lostNames is a crash that loses the names of compaction's files, and keeps the manifest's.
func lostNames(p Plan) Plan {
	p = withCrash(p)
	p.Losses = []loss{{"what compaction made is lost", func(c fileserver.Change) bool { return c.Kind != vfs.ChangeCreate || !isCompacted(c.Name) }}}
	return p
}

// inputsBeforeManifest removes what was compacted before the manifest names the outputs.
func inputsBeforeManifest(_ *Owner) *liar {
	return &liar{
		write: func(d vfs.Dir, f vfs.File, p []byte, off int64) (int, error) {
			if strings.Contains(f.Name(), "manifest") {
				if err := removeReplaced(d, p); err != nil {
					return 0, err
				}
			}
			return f.WriteAt(p, off)
		},
	}
}

// removeReplaced removes the log files that compacted ones of a manifest stand for.
func removeReplaced(d vfs.Dir, manifest []byte) error {
	var envelope struct {
		Body struct {
			Compacted []struct{ Base, End int64 }
		}
	}
	if err := json.Unmarshal(manifest, &envelope); err != nil {
		return err
	}
	entries, err := d.List()
	if err != nil {
		return err
	}
	for _, e := range entries {
		for _, c := range envelope.Body.Compacted {
			if base := baseOf(e.Name); isLog(e.Name) && !isCompacted(e.Name) && base >= c.Base && base < c.End {
				if err := d.Remove(e.Name); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// abortedNotCarriedOver leaves the entries of aborted transactions behind with the files that were compacted.
func abortedNotCarriedOver(_ *Owner) *liar {
	return &liar{
		write: func(_ vfs.Dir, f vfs.File, p []byte, off int64) (int, error) {
			if isCompacted(f.Name()) && strings.HasSuffix(f.Name(), ".txnindex") {
				return len(p), nil
			}
			return f.WriteAt(p, off)
		},
	}
}

// baseOf is the first offset in the name of a segment's file, -1 for any other name.
func baseOf(name string) int64 {
	first, _, _ := strings.Cut(name, ".")
	base, err := strconv.ParseInt(first, 10, 64)
	if err != nil || len(first) != 20 {
		return -1
	}
	return base
}
