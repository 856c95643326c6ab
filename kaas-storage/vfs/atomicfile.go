package vfs

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
)

// WriteFileAtomic makes name hold exactly data, durably: after a crash at any
// point the name holds its old content or data, never a mixture. It writes a
// temporary file (".<name>.<random>.tmp"), syncs it, renames it over name and
// syncs the directory. On failure the temporary file is removed; the name then
// holds its old content, or data that may not survive a crash.
func WriteFileAtomic(d Dir, name string, data []byte) error {
	if err := checkName("write", d.Path(), name); err != nil {
		return err
	}
	temporary := "." + name + "." + rand.Text() + ".tmp"
	if err := writeTemporary(d, temporary, data); err != nil {
		return err
	}
	if err := d.Rename(temporary, name); err != nil {
		return errors.Join(err, removeTemporary(d, temporary))
	}
	return d.Sync()
}

func writeTemporary(d Dir, name string, data []byte) error {
	file, err := d.Create(name)
	if err != nil {
		return err
	}
	_, err = file.WriteAt(data, 0)
	if err == nil {
		err = file.Sync()
	}
	// A failed close can be the only report of a failed write (NFS, quotas).
	err = errors.Join(err, file.Close())
	if err != nil {
		return errors.Join(err, removeTemporary(d, name))
	}
	return nil
}

// removeTemporary tolerates that the file is gone: a rename can have happened
// although it reported an error.
func removeTemporary(d Dir, name string) error {
	if err := d.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// ReadFile returns the whole content of a file of at most limit bytes;
// ErrLimit if it is larger.
func ReadFile(d Dir, name string, limit int64) (data []byte, err error) {
	file, err := d.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() {
		if closeErr := file.Close(); err == nil {
			err = closeErr
		}
	}()
	size, err := file.Size()
	if err != nil {
		return nil, err
	}
	if size > limit {
		return nil, pathError("read", d.Path(), name, ErrLimit)
	}
	data = make([]byte, size)
	n, err := file.ReadAt(data, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return data[:n], nil
}
