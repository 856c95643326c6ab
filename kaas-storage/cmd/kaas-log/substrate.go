package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

const substrateHelp = `kaas-log substrate DIR [flags]

Tries, in a directory of a volume, what kaas relies on: that an owner who was
replaced notices it before it acknowledges anything. No file system does this
for kaas; it is the claim, a directory that the next owner removes, which must
look removed to whoever holds it, whatever caches are in between.

On one host, two processes of this program do it:

    kaas-log substrate /mnt/volume

On two hosts, which is the case that matters for a shared volume, start one on
each; they talk through files in the directory only. Start either first:

    host-a$ kaas-log substrate /mnt/volume --role holder --peer trial1
    host-b$ kaas-log substrate /mnt/volume --role taker  --peer trial1

The holder leads a log and acknowledges records. The taker takes the log over:
first while the holder is at work, then while its process is stopped (SIGSTOP),
and with --by-hand while you have frozen its whole machine. It then looks whether
the holder, thawed, notices before it acknowledges anything more, and whether
every record that was acknowledged is there. The time of a takeover is that from
its first file call until the new owner may answer.

Nothing outside the directory kaas-substrate-NAME in DIR is touched, and that is
removed at the end. If it was left behind by a crash: rm -r it.

Exit status: 0 the volume fences, 1 it does not, 2 it could not be tried.
`

// logName is the log that both lead in turn, in the meeting's directory.
const logName = "log"

// options are the command line of substrate.
type options struct {
	dir, role, peer string
	json, byHand    bool
	freeze, wait    time.Duration
	child           bool
}

func substrate(ctx context.Context, args []string, s streams) error {
	var o options
	set := newFlags("substrate", substrateHelp, s)
	set.StringVar(&o.role, "role", "", "`holder|taker` of a trial on two hosts; both by default")
	set.StringVar(&o.peer, "peer", "", "`NAME` of the trial, the same on both hosts")
	set.BoolVar(&o.json, "json", false, "report as JSON")
	set.BoolVar(&o.byHand, "by-hand", false, "wait, too, until you freeze the holder's machine")
	set.DurationVar(&o.freeze, "freeze", 8*time.Second, "`TIME` for which the holder's process is stopped")
	set.DurationVar(&o.wait, "wait", 5*time.Minute, "`TIME` to wait for the other side")
	set.BoolVar(&o.child, "child", false, hidden)
	var err error
	if o.dir, err = parse(set, args, "a directory of the volume"); err != nil {
		return err
	}
	if err := o.check(); err != nil {
		return err
	}
	disk, err := vfs.OS(o.dir)
	if err != nil {
		return err
	}
	defer disk.Close()
	switch o.role {
	case "holder":
		return supervise(ctx, o, s)
	case "worker":
		return o.work(ctx, disk, s)
	}
	return o.drive(ctx, disk, s)
}

func (o *options) check() error {
	switch o.role {
	case "":
		if o.peer != "" {
			return errors.New("--peer names a trial on two hosts, and needs --role")
		}
		o.peer = strings.ToLower(rand.Text()[:8])
	case "holder", "taker", "worker":
		if o.peer == "" {
			return errors.New("--role needs --peer NAME, the same on both hosts")
		}
	default:
		return fmt.Errorf("--role is holder or taker, not %q", o.role)
	}
	if strings.ContainsAny(o.peer, "/\\\x00") {
		return fmt.Errorf("--peer %q must do as part of a file name", o.peer)
	}
	if o.freeze < 3*time.Second {
		return fmt.Errorf("--freeze %v: it takes 3s to see that the holder stands still", o.freeze)
	}
	return nil
}

// meeting is the directory through which both sides talk.
func (o *options) meeting() string { return "kaas-substrate-" + o.peer }

// work makes the meeting's directory and serves the taker.
func (o *options) work(ctx context.Context, disk vfs.FS, s streams) error {
	if o.child {
		var cancel context.CancelCauseFunc
		ctx, cancel = context.WithCancelCause(ctx)
		go func() { // ends with the process
			_, _ = io.Copy(io.Discard, s.in)
			cancel(errors.New("whoever started this process has gone"))
		}()
	}
	root, err := disk.OpenDir(".")
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.Mkdir(o.meeting()); errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already: another trial is at work, or one was cut short; then remove it, or choose another name", filepath.Join(o.dir, o.meeting()))
	} else if err != nil {
		return err
	}
	dir, err := root.OpenDir(o.meeting())
	if err != nil {
		return err
	}
	defer dir.Close()
	w := &worker{disk: disk, path: o.meeting(), dir: dir, freeze: s.out}
	return w.work(ctx, &mailbox{dir: dir, timeout: o.wait + o.freeze})
}

// drive is the taker. Without a role it starts the holder itself.
func (o *options) drive(ctx context.Context, disk vfs.FS, s streams) (err error) {
	if o.role == "" {
		stop, err := startHolder(ctx, *o, s)
		if err != nil {
			return err
		}
		defer stop()
	}
	defer os.RemoveAll(filepath.Join(o.dir, o.meeting())) // what it leaves is named in the help
	dir, err := o.await(ctx, disk, s)
	if err != nil {
		return err
	}
	defer dir.Close()
	t := &trial{
		options: o, disk: disk, dir: dir, streams: s,
		holder: &mailbox{dir: dir, timeout: o.wait + o.freeze},
		acked:  map[int64]string{},
		report: newReport(o.json, s.out),
	}
	if err := t.run(ctx); err != nil {
		return err
	}
	return t.report.finish()
}

// await waits until the holder has made the directory.
func (o *options) await(ctx context.Context, disk vfs.FS, s streams) (dir vfs.Dir, err error) {
	if o.role == "taker" {
		fmt.Fprintf(s.err, "waiting for: kaas-log substrate %s --role holder --peer %s\n", o.dir, o.peer)
	}
	root, err := disk.OpenDir(".")
	if err != nil {
		return nil, err
	}
	defer root.Close()
	ctx, cancel := context.WithTimeoutCause(ctx, o.wait, fmt.Errorf("no holder has come within %v", o.wait))
	defer cancel()
	err = until(ctx, func() (bool, error) {
		found, err := listed(root, o.meeting())
		if err != nil || !found {
			return false, err
		}
		dir, err = root.OpenDir(o.meeting())
		return err == nil, err
	})
	return dir, err
}
