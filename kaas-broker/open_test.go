package broker_test

import (
	"net"
	"strings"
	"testing"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"

	broker "github.com/kaas-rs/kaas/kaas-broker"
)

// Whatever is in the way, Open leaves nothing behind: no port, no file, no goroutine.
func TestFailedOpenLeavesNothing(t *testing.T) {
	holder, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = holder.Close() })
	taken := holder.Addr().String()
	for name, test := range map[string]struct {
		options broker.Options
		blamed  string
	}{
		"port in use": {
			broker.Options{Config: load(t, "--health-addr", "off", "--listeners", "PLAINTEXT://127.0.0.1:0,OTHER://"+taken,
				"--override", "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,OTHER:PLAINTEXT")}, taken,
		},
		"health port in use": {broker.Options{Config: load(t, "--health-addr", taken)}, taken},
	} {
		t.Run(name, func(t *testing.T) {
			check := leakCheck(t)
			b, err := broker.Open(t.Context(), test.options)
			if err == nil {
				_ = b.Close()
				t.Fatal("opened")
			}
			if !strings.Contains(err.Error(), test.blamed) {
				t.Errorf("%v does not name %s", err, test.blamed)
			}
			check()
		})
	}
}

// Each file operation of a first start fails once; each time nothing is left behind, and the next start succeeds.
func TestOpenFailsAtEachFileOperation(t *testing.T) {
	check := leakCheck(t)
	for n := 1; ; n++ {
		memory := vfs.NewMem(16 << 20)
		broken := vfs.FailNth(n, nil, errBroken)
		options := broker.Options{
			Config: load(t, "--health-addr", "off"), Memory: memory,
			WrapFS: func(fs vfs.FS) vfs.FS { return vfs.NewFault(fs, broken) },
		}
		b, failure := broker.Open(t.Context(), options)
		if failure == nil {
			_ = b.Close()
			if n < 10 {
				t.Fatalf("opened after %d operations", n)
			}
			break
		}
		options.WrapFS = nil
		b, err := broker.Open(t.Context(), options)
		if err != nil {
			t.Fatalf("after operation %d had failed (%v): %v", n, failure, err)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
	check()
}
