package main

import (
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// flags are the command line.
type flags struct {
	root, binary, dir, out, profiles, contestants, works string
	rounds                                               int
	quick, idle, large                                   bool
}

func parse(args []string, stderr io.Writer) (flags, error) {
	var f flags
	set := flag.NewFlagSet("bench", flag.ContinueOnError)
	set.SetOutput(stderr)
	set.StringVar(&f.root, "root", ".", "folder of the repository")
	set.StringVar(&f.binary, "kaas", "", "kaas's binary (default bin/kaas in the repository)")
	set.StringVar(&f.dir, "dir", "", "folder on the disk to be used (default .cache in the repository)")
	set.StringVar(&f.out, "out", "", "folder for the report (default docs/benchmarks in the repository; none with -quick or -works)")
	set.StringVar(&f.profiles, "profiles", "", "folder for profiles of kaas, which make it slower")
	set.StringVar(&f.contestants, "contestants", everybody(), "who runs")
	set.StringVar(&f.works, "works", "", "part of the names of the works to run (default all)")
	set.IntVar(&f.rounds, "rounds", 0, "how many rounds (default 5; 1 with -quick)")
	set.BoolVar(&f.quick, "quick", false, "one short round, to see that everything works")
	set.BoolVar(&f.idle, "idle", false, "measure 10,000 idle partitions of kaas, which may open 20,000 files, too")
	set.BoolVar(&f.large, "large", false, "measure the recovery of 2 GB by kaas, too")
	err := set.Parse(args)
	if err == nil && set.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q", set.Arg(0))
	}
	return f, err
}

// complete fills in the defaults that follow from other flags.
func (f *flags) complete() {
	if f.binary == "" {
		f.binary = filepath.Join(f.root, "bin", "kaas")
	}
	if f.dir == "" {
		f.dir = filepath.Join(f.root, ".cache")
	}
	if f.out == "" && !f.quick && f.works == "" {
		f.out = filepath.Join(f.root, "docs", "benchmarks")
	}
}

func (f *flags) settings() settings {
	s := fullSettings()
	if f.quick {
		s = quickSettings()
	}
	if f.rounds > 0 {
		s.Rounds = f.rounds
	}
	s.Idle, s.Large, s.Works = f.idle, f.large, f.works
	return s
}

// choose returns the contestants that are wanted, in the order of the tables.
func (f *flags) choose() ([]contestant, error) {
	wanted := strings.Split(f.contestants, ",")
	var chosen []contestant
	if slices.Contains(wanted, nameKaas) {
		chosen = append(chosen, contestant{nameKaas, "kaas", kaasLauncher{binary: f.binary, profiles: f.profiles != ""}})
	}
	if slices.Contains(wanted, nameKafkaFsync) || slices.Contains(wanted, nameKafkaCache) {
		scripts, err := findScripts(f.root)
		if err != nil {
			return nil, err
		}
		for _, c := range []contestant{
			{nameKafkaFsync, "Apache Kafka, honest fsync", apacheLauncher{scripts, []string{"log.flush.interval.messages=1"}}},
			{nameKafkaCache, "Apache Kafka, page cache", apacheLauncher{scripts, nil}},
		} {
			if slices.Contains(wanted, c.name) {
				chosen = append(chosen, c)
			}
		}
	}
	if len(chosen) != len(wanted) {
		return nil, fmt.Errorf("-contestants %s: choose from %s, %s and %s", f.contestants, nameKaas, nameKafkaFsync, nameKafkaCache)
	}
	return chosen, nil
}

// command is how the same race is run again; the folders are everybody's own.
func (f *flags) command() string {
	var kept []string
	add := func(wanted bool, text string) {
		if wanted {
			kept = append(kept, text)
		}
	}
	add(f.quick, "-quick")
	add(f.rounds > 0, fmt.Sprintf("-rounds %d", f.rounds))
	add(f.contestants != everybody(), "-contestants "+f.contestants)
	add(f.works != "", "-works \""+f.works+"\"")
	add(f.idle, "-idle")
	add(f.large, "-large")
	if len(kept) == 0 {
		return "make bench"
	}
	return "make bench BENCH='" + strings.Join(kept, " ") + "'"
}

func everybody() string { return strings.Join([]string{nameKaas, nameKafkaFsync, nameKafkaCache}, ",") }
