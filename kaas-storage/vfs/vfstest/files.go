package vfstest

import (
	"bytes"
	"io"
	"io/fs"
)

func fileTests() []test {
	return []test{
		{"read what was written", func(s *scene) {
			file := s.create(s.root, "f", "hello")
			buffer := make([]byte, 3)
			n, err := file.ReadAt(buffer, 1)
			s.ok(err)
			if n != 3 || string(buffer) != "ell" {
				s.Fatalf("read %q", buffer[:n])
			}
			s.content(s.root, "f", "hello")
		}},
		{"the end of a file", endOfFile},
		{"overwrite", func(s *scene) {
			file := s.create(s.root, "f", "hello")
			_, err := file.WriteAt([]byte("ipp"), 1)
			s.ok(err)
			s.size(file, 5)
			s.content(s.root, "f", "hippo")
		}},
		{"a gap reads as zeros", func(s *scene) {
			file := s.create(s.root, "f", "x")
			_, err := file.WriteAt([]byte("y"), 3<<20)
			s.ok(err)
			s.size(file, 3<<20+1)
			s.content(s.root, "f", "x"+string(make([]byte, 3<<20-1))+"y")
			used := bytes.Repeat([]byte("u"), 1<<20)
			_, err = file.ReadAt(used, 1<<20)
			s.ok(err)
			if !bytes.Equal(used, make([]byte, 1<<20)) {
				s.Fatal("a used buffer keeps bytes where the gap is")
			}
		}},
		{"odd sizes over many chunks", oddSizes},
		{"negative offsets", func(s *scene) {
			file := s.create(s.root, "f", "x")
			_, err := file.ReadAt(make([]byte, 1), -1)
			s.wantAny(err)
			_, err = file.WriteAt([]byte("y"), -1)
			s.wantAny(err)
			_, err = file.WriteVec([][]byte{[]byte("y"), []byte("z")}, -1)
			s.wantAny(err)
		}},
		{"opened for reading only", func(s *scene) {
			s.create(s.root, "f", "x")
			file := s.open(s.root, "f")
			_, err := file.WriteAt([]byte("y"), 0)
			s.wantAny(err)
			_, err = file.WriteVec([][]byte{[]byte("y")}, 0)
			s.wantAny(err)
			s.content(s.root, "f", "x")
		}},
		{"opened for writing again", func(s *scene) {
			s.ok(s.create(s.root, "f", "hello").Close())
			file, err := s.root.OpenWrite("f")
			s.ok(err)
			defer file.Close()
			s.size(file, 5)
			_, err = file.WriteAt([]byte("!"), 5)
			s.ok(err)
			s.content(s.root, "f", "hello!")
		}},
		{"a removed file lives in its handles", removedFile},
		{"a name made anew is another file", func(s *scene) {
			old := s.create(s.root, "f", "old")
			s.ok(s.root.Remove("f"))
			s.create(s.root, "f", "anew")
			s.size(old, 3)
			s.content(s.root, "f", "anew")
		}},
		{"names and syncs", func(s *scene) {
			file := s.create(s.root, "f", "x")
			if file.Name() != "f" {
				s.Fatalf("name is %q", file.Name())
			}
			s.ok(file.Sync())
			s.ok(s.open(s.root, "f").Sync())
		}},
		{"a closed file", closedFile},
	}
}

func endOfFile(s *scene) {
	file := s.create(s.root, "f", "hello")
	buffer := make([]byte, 10)
	n, err := file.ReadAt(buffer, 3)
	s.want(err, io.EOF)
	if n != 2 {
		s.Fatalf("%d bytes read", n)
	}
	for _, off := range []int64{5, 6, 1 << 30} {
		n, err = file.ReadAt(buffer, off)
		s.want(err, io.EOF)
		if n != 0 {
			s.Fatalf("%d bytes read at %d", n, off)
		}
	}
	n, err = file.ReadAt(buffer[:2], 3)
	s.ok(err)
	if n != 2 {
		s.Fatalf("%d bytes read", n)
	}
}

func oddSizes(s *scene) {
	file := s.create(s.root, "f", "")
	var want []byte
	for size := 1; len(want) < 5<<20; size = size*2 + 7 {
		piece := bytes.Repeat([]byte{byte(size) | 1}, size)
		_, err := file.WriteAt(piece, int64(len(want)))
		s.ok(err)
		want = append(want, piece...)
	}
	s.content(s.root, "f", string(want))
	for off := 0; off < len(want); off += 99_991 {
		part := make([]byte, min(70_001, len(want)-off))
		_, err := file.ReadAt(part, int64(off))
		s.ok(err)
		if !bytes.Equal(part, want[off:off+len(part)]) {
			s.Fatalf("bytes at %d differ", off)
		}
	}
}

func removedFile(s *scene) {
	file := s.create(s.root, "f", "hello")
	reader := s.open(s.root, "f")
	s.ok(s.root.Remove("f"))
	s.names(s.root)
	_, err := file.WriteAt([]byte("J"), 0)
	s.ok(err)
	s.ok(file.Close())
	buffer := make([]byte, 5)
	_, err = reader.ReadAt(buffer, 0)
	s.ok(err)
	if string(buffer) != "Jello" {
		s.Fatalf("read %q", buffer)
	}
}

func closedFile(s *scene) {
	file := s.create(s.root, "f", "x")
	s.ok(file.Close())
	_, err := file.ReadAt(make([]byte, 1), 0)
	s.want(err, fs.ErrClosed)
	_, err = file.WriteAt([]byte("y"), 0)
	s.want(err, fs.ErrClosed)
	_, err = file.WriteVec([][]byte{[]byte("y")}, 0)
	s.want(err, fs.ErrClosed)
	_, err = file.Size()
	s.want(err, fs.ErrClosed)
	s.want(file.Sync(), fs.ErrClosed)
	s.want(file.Close(), fs.ErrClosed)
	s.content(s.root, "f", "x")
}
