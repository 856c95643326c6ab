package vfs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// listBuffer holds some hundred names for each system call.
const listBuffer = 32 << 10

// List implements Dir. The forced statx makes a network file system notice that
// its cached listing is old, and the new handle makes it read the listing
// again; an existing handle may go on with what it once read.
func (d *osDir) List() ([]Entry, error) {
	if _, err := d.handle.force("list"); err != nil {
		return nil, err
	}
	fresh, err := d.handle.openAt("list", ".", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	entries, err := fresh.list()
	if closeErr := fresh.close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return nil, err
	}
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	return entries, nil
}

func (d *descriptor) list() ([]Entry, error) {
	var entries []Entry
	buffer := make([]byte, listBuffer)
	for {
		var n int
		err := d.use("list", "", func(fd int) (err error) {
			n, err = unix.Getdents(fd, buffer)
			return err
		})
		if err != nil || n == 0 {
			return entries, err
		}
		if entries, err = d.appendEntries(entries, buffer[:n]); err != nil {
			return nil, err
		}
	}
}

// Offsets in struct linux_dirent64 (getdents64(2)).
const (
	direntLength = 16
	direntType   = 18
	direntName   = 19
)

func (d *descriptor) appendEntries(entries []Entry, records []byte) ([]Entry, error) {
	for len(records) > 0 {
		if len(records) <= direntName {
			return nil, pathError("list", d.path, "", unix.EIO)
		}
		length := int(binary.NativeEndian.Uint16(records[direntLength:]))
		if length <= direntName || length > len(records) {
			return nil, pathError("list", d.path, "", unix.EIO)
		}
		name, _, _ := bytes.Cut(records[direntName:length], []byte{0})
		kind := records[direntType]
		records = records[length:]
		if text := string(name); text != "." && text != ".." {
			isDir, present, err := d.isDir(text, kind)
			if err != nil {
				return nil, err
			}
			if present {
				entries = append(entries, Entry{Name: text, IsDir: isDir})
			}
		}
	}
	return entries, nil
}

// isDir asks for the attributes only where the listing leaves the kind open. A
// name that has gone meanwhile is not present.
func (d *descriptor) isDir(name string, kind byte) (isDir, present bool, err error) {
	if kind != unix.DT_UNKNOWN {
		return kind == unix.DT_DIR, true, nil
	}
	stat, err := d.stat("list", name, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, false, nil
	}
	return stat.Mode&unix.S_IFMT == unix.S_IFDIR, err == nil, err
}
