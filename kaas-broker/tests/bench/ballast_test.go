package main

import (
	"os"
	"syscall"
	"testing"
)

func TestBallast(t *testing.T) {
	const size = 64 << 20
	b := &ballast{memory: make([]byte, 0)}
	if err := b.leave(size); err != nil || b.held != 0 {
		t.Errorf("without addresses: %d bytes are held, %v", b.held, err)
	}
	var none *ballast
	if err := none.leave(size); err != nil {
		t.Error(err)
	}
	if err := none.release(); err != nil {
		t.Error(err)
	}
}

func TestBallastIsGivenBack(t *testing.T) {
	free, err := memoryLine("MemFree")
	if err != nil || free < untouchedMemory+256<<20 {
		t.Skipf("%d bytes are free, %v", free, err)
	}
	b := &ballast{memory: mapped(t, 72<<20), spare: 8 << 20}
	for _, c := range []struct{ wanted, held int64 }{{16 << 20, 48 << 20}, {48 << 20, 16 << 20}, {0, 64 << 20}, {1 << 30, 0}} {
		if err := b.leave(c.wanted); err != nil {
			t.Fatal(err)
		}
		if b.held != c.held {
			t.Errorf("%d bytes are held when %d are wanted, want %d", b.held, c.wanted, c.held)
		}
		if c.held > 0 && b.memory[c.held-int64(os.Getpagesize())] != 1 {
			t.Errorf("what is held was not used")
		}
		if c.held < int64(len(b.memory)) && b.memory[c.held] != 0 {
			t.Errorf("what is wanted was not given back")
		}
	}
	if err := b.release(); err != nil {
		t.Error(err)
	}
}

func mapped(t *testing.T, size int) []byte {
	t.Helper()
	memory, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANONYMOUS)
	if err != nil {
		t.Fatal(err)
	}
	return memory
}
