package vfstest

import (
	"bytes"
	"fmt"
)

func vectorTests() []test {
	return []test{
		{"nothing", func(s *scene) {
			file := s.create(s.root, "f", "")
			s.writeVec(file.WriteVec, nil, 0)
			s.writeVec(file.WriteVec, [][]byte{nil, {}}, 7)
			s.size(file, 0)
		}},
		{"buffers of several sizes", func(s *scene) {
			file := s.create(s.root, "f", "abc")
			bufs := [][]byte{[]byte("x"), nil, []byte("yz"), bytes.Repeat([]byte("w"), 100_000)}
			s.writeVec(file.WriteVec, bufs, 3)
			s.content(s.root, "f", "abcxyz"+string(bufs[3]))
			if string(bufs[0]) != "x" || bufs[1] != nil || string(bufs[2]) != "yz" || len(bufs) != 4 {
				s.Fatal("buffers were modified")
			}
		}},
		{"more buffers than a system call takes", func(s *scene) {
			file := s.create(s.root, "f", "")
			var bufs [][]byte
			for i := range 2_500 {
				bufs = append(bufs, fmt.Appendf(nil, "%d,", i))
			}
			s.writeVec(file.WriteVec, bufs, 0)
			s.content(s.root, "f", string(bytes.Join(bufs, nil)))
		}},
	}
}

func (s *scene) writeVec(write func([][]byte, int64) (int64, error), bufs [][]byte, off int64) {
	s.Helper()
	n, err := write(bufs, off)
	s.ok(err)
	if want := len(bytes.Join(bufs, nil)); n != int64(want) {
		s.Fatalf("%d bytes written, want %d", n, want)
	}
}
