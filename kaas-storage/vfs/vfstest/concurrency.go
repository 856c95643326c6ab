package vfstest

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

const workers = 8

// parallel runs a function in several goroutines and waits for them.
func (s *scene) parallel(run func(worker int) error) {
	s.Helper()
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() {
			if err := run(worker); err != nil {
				s.Error(err)
			}
		})
	}
	group.Wait()
}

func concurrencyTests() []test {
	return []test{
		{"one of many makes a directory", func(s *scene) {
			for round := range 20 {
				var made atomic.Int32
				s.parallel(func(int) error {
					err := s.root.Mkdir(fmt.Sprint(round))
					if errors.Is(err, fs.ErrExist) {
						return nil
					}
					made.Add(1)
					return err
				})
				if made.Load() != 1 {
					s.Fatalf("%d made it", made.Load())
				}
			}
		}},
		{"parts of one file", func(s *scene) {
			file := s.create(s.root, "f", "")
			s.parallel(func(worker int) error {
				_, err := file.WriteVec([][]byte{bytes.Repeat([]byte{byte('a' + worker)}, 10_000)}, int64(worker)*10_000)
				return errors.Join(err, file.Sync())
			})
			var want []byte
			for worker := range workers {
				want = append(want, bytes.Repeat([]byte{byte('a' + worker)}, 10_000)...)
			}
			s.content(s.root, "f", string(want))
		}},
		{"a replaced file is whole to its readers", wholeFile},
		{"readers of a file that is removed and closed", func(s *scene) {
			file := s.create(s.root, "f", "hello")
			s.parallel(func(worker int) error {
				if worker == 0 {
					return errors.Join(s.root.Remove("f"), file.Close())
				}
				buffer := make([]byte, 5)
				_, err := file.ReadAt(buffer, 0)
				if err == nil && string(buffer) != "hello" {
					return fmt.Errorf("read %q", buffer)
				}
				if errors.Is(err, fs.ErrClosed) {
					return nil
				}
				return err
			})
		}},
	}
}

func wholeFile(s *scene) {
	content := func(i int) []byte { return bytes.Repeat([]byte{byte('a' + i%26)}, 1_000) }
	s.ok(vfs.WriteFileAtomic(s.root, "f", content(0)))
	s.parallel(func(worker int) error {
		for round := range 10 {
			if worker%2 == 0 {
				if err := vfs.WriteFileAtomic(s.root, "f", content(worker+round)); err != nil {
					return err
				}
				continue
			}
			got, err := vfs.ReadFile(s.root, "f", 1_000)
			if err != nil {
				return err
			}
			if len(got) != 1_000 || !bytes.Equal(got, bytes.Repeat(got[:1], 1_000)) {
				return errors.New("read a mixture")
			}
		}
		return nil
	})
	s.names(s.root, "f")
}
