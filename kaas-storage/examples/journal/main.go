// Command journal keeps lines of text in a durable log: it appends each line of its input, and prints what the log holds, from the first run on.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	storage "github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

func main() {
	dir := flag.String("dir", "", "directory of the journal; empty keeps it in memory")
	flag.Parse()
	if err := run(context.Background(), *dir, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "journal:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, dir string, in io.Reader, out io.Writer) (err error) {
	var disk vfs.FS = vfs.NewMem(64 << 20)
	if dir != "" {
		if disk, err = vfs.OS(dir); err != nil {
			return err
		}
	}
	defer disk.Close()
	keep := storage.DefaultConfig()
	keep.RetentionAge = -1
	log, err := storage.OpenLog(ctx, disk, "journal", storage.WithConfig(keep))
	if err != nil {
		return err
	}
	// Closing spares the next start the repair; what was acknowledged is safe without it.
	defer func() { err = errors.Join(err, log.Close(ctx)) }()
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		if _, err := log.Append(ctx, storage.Record{Value: lines.Bytes()}); err != nil {
			return err // else the line is on the disk
		}
	}
	start, _ := log.Bounds()
	for r, err := range log.Read(start) {
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%6d  %s  %s\n", r.Offset, r.Timestamp.Format("15:04:05.000"), r.Value)
	}
	return lines.Err()
}
