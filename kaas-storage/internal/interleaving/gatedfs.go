package interleaving

import (
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"strings"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// gatedFS is the file system of one owner: each call that others can see, or that can see others, waits for its turn, and its result
// becomes part of the owner's history.
type gatedFS struct {
	owner *Owner
	inner vfs.FS
}

func (f *gatedFS) OpenDir(path string) (vfs.Dir, error) {
	inner, err := f.inner.OpenDir(path)
	if err != nil {
		return nil, err
	}
	return &gatedDir{f.owner, inner}, nil
}

func (f *gatedFS) MkdirAll(path string) error { return f.inner.MkdirAll(path) }
func (f *gatedFS) Usage() (vfs.Usage, error)  { return f.inner.Usage() }
func (f *gatedFS) Close() error               { return f.inner.Close() }

// waits reports whether a kind of call is a point where another owner may go on instead. The others are made together with the call before
// them: they see only what the process itself did, or what an opening has fixed.
func (p *Plan) waits(op vfs.Op) bool {
	// A segment is opened under a lock that closing idle files needs. Where time passes, a call that waits must not hold it: see contends.
	segment := strings.HasSuffix(op.Name, ".log") || strings.HasSuffix(op.Name, "index")
	switch op.Kind {
	case vfs.OpMkdir, vfs.OpRmdir, vfs.OpRename, vfs.OpList, vfs.OpSyncDir, vfs.OpCheck, vfs.OpWriteVec:
		return true
	case vfs.OpOpen, vfs.OpOpenWrite:
		return p.Pauses == 0 || !segment
	case vfs.OpSync:
		return !p.Coarse || strings.HasSuffix(op.Name, ".log")
	case vfs.OpRemove, vfs.OpParent: // a removal begins with finding the directory
		return !p.Coarse || p.Removals
	case vfs.OpCreate:
		return !p.Coarse && (p.Pauses == 0 || !segment)
	case vfs.OpStat, vfs.OpWriteAt:
		return !p.Coarse
	case vfs.OpReadAt:
		return !p.Coarse && strings.HasSuffix(op.Name, ".log")
	default:
		return false
	}
}

// run makes one call in its turn. result describes what the caller learned.
func (o *Owner) run(op vfs.Op, carryOut func() (result string, err error)) error {
	if o.judging.Load() {
		_, err := carryOut()
		return err
	}
	text := describe(op)
	if o.world.plan.waits(op) {
		if err := o.world.gate.pass(&call{owner: o, text: text}); err != nil {
			return err
		}
	}
	result, err := carryOut()
	o.note(text, result, err)
	return err
}

// Pause waits for the owner's turn within a call, for what deceives an engine by doing more than it was told.
func (o *Owner) Pause(text string) error {
	if o.judging.Load() {
		return nil
	}
	return o.world.gate.pass(&call{owner: o, text: text})
}

// note adds a call to the owner's history and, if it waited, to the script. Two calls of different goroutines in either order
// leave the same history.
func (o *Owner) note(text, result string, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.repeats[text]++
	h := fnv.New64a()
	fmt.Fprintf(h, "%s/%d/%s/%s", text, o.repeats[text], result, errorText(err))
	o.history += h.Sum64()
	o.lastResult = result
	if err != nil {
		o.lastResult = errorText(err)
	}
}

func errorText(err error) string {
	var pathError *os.PathError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &pathError):
		return pathError.Err.Error()
	}
	return err.Error()
}

// describe names a call without the random part of temporary names.
func describe(op vfs.Op) string {
	op.Name, op.NewName = stable(op.Name), stable(op.NewName)
	return op.String()
}

func stable(name string) string {
	if !strings.HasSuffix(name, ".tmp") {
		return name
	}
	if parts := strings.Split(name, "."); len(parts) > 3 {
		return strings.Join(parts[:len(parts)-2], ".") + ".tmp"
	}
	return name
}
