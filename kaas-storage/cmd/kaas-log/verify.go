package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"

	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/clusterdir"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

const verifyHelp = `kaas-log verify DIR [flags]

Reads every log below DIR, a partition's directory or one that holds many (a
data directory), and checks the manifest's checksum, that the chain of files is
whole, the checksum of each batch, that offsets go on without a gap, leader
epochs, and that the indexes say what is there. It makes no claim and changes
nothing.

Stop the broker first, or copy the directory: of a log that is led meanwhile,
files may vanish under the hands of this program, which it would report.

A log that ends in a torn batch behind its recovery point is sound: that batch
was never acknowledged, and the next owner leaves it out.

Exit status: 0 all is sound, 1 something is damaged, 2 it could not be read.
`

// verdict is what was found in one partition.
type verdict struct {
	Path     string            `json:"path"`
	Sound    bool              `json:"sound"`
	Error    string            `json:"error,omitempty"`
	Findings []storage.Finding `json:"findings,omitempty"`
}

func verify(args []string, s streams) error {
	set := newFlags("verify", verifyHelp, s)
	asJSON := set.Bool("json", false, "report as JSON")
	root, err := parse(set, args, "a directory")
	if err != nil {
		return err
	}
	disk, err := vfs.OS(root)
	if err != nil {
		return err
	}
	defer disk.Close()
	var verdicts []verdict
	if err := eachPartition(disk, ".", func(at string, dir vfs.Dir) error {
		v, err := verifyPartition(dir)
		v.Path = filepath.Join(root, at)
		verdicts = append(verdicts, v)
		if !*asJSON {
			v.print(s)
		}
		return err
	}); err != nil {
		return err
	}
	if len(verdicts) == 0 {
		return fmt.Errorf("no partition is in %s", root)
	}
	return summary(verdicts, *asJSON, s)
}

func summary(verdicts []verdict, asJSON bool, s streams) error {
	damaged := 0
	for _, v := range verdicts {
		if !v.Sound {
			damaged++
		}
	}
	if asJSON {
		encoder := json.NewEncoder(s.out)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(verdicts); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(s.out, "%d partitions, %d damaged\n", len(verdicts), damaged)
	}
	if damaged > 0 {
		return errBad
	}
	return nil
}

func (v *verdict) print(s streams) {
	word := "sound   "
	if !v.Sound {
		word = "DAMAGED "
	}
	fmt.Fprintln(s.out, word, v.Path)
	if v.Error != "" {
		fmt.Fprintf(s.out, "          %s\n", v.Error)
	}
	for _, f := range v.Findings {
		fmt.Fprintf(s.out, "          %s at byte %d: %s\n", f.File, f.Offset, f.What)
	}
}

// verifyPartition returns an error only where the reading itself failed.
func verifyPartition(dir vfs.Dir) (verdict, error) {
	v := verdict{Sound: true}
	inspection, err := storage.Inspect(dir)
	if err == nil {
		err = inspection.Verify(func(f storage.Finding) {
			v.Findings = append(v.Findings, f)
			v.Sound = v.Sound && !f.Damage
		})
	}
	if err == nil {
		return v, nil
	}
	v.Sound, v.Error = false, err.Error()
	corrupt := (*storage.CorruptionError)(nil)
	if errors.As(err, &corrupt) || errors.Is(err, storage.ErrNoManifest) || errors.Is(err, storage.ErrFutureVersion) {
		return v, nil
	}
	return v, err
}

// eachPartition visits the directories that hold a log, in order of their paths.
func eachPartition(disk vfs.FS, at string, visit func(at string, dir vfs.Dir) error) error {
	dir, err := disk.OpenDir(at)
	if err != nil {
		return err
	}
	defer dir.Close()
	entries, err := dir.List()
	if err != nil {
		return err
	}
	// A cluster directory has claims, as a partition has; the coordinator's logs lie below it.
	isCluster := slices.ContainsFunc(entries, func(e vfs.Entry) bool { return e.Name == clusterdir.IdentityName })
	epoch, err := storage.HighestEpoch(dir)
	if err != nil {
		return err
	}
	if epoch != storage.NoEpoch && !isCluster {
		return visit(at, dir)
	}
	for _, entry := range entries {
		if !entry.IsDir {
			continue
		}
		if err := eachPartition(disk, path.Join(at, entry.Name), visit); err != nil {
			return err
		}
	}
	return nil
}
