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
	taken, free := holder.Addr().String(), freeAddress(t)
	for name, test := range map[string]struct {
		options broker.Options
		blamed  string
	}{
		"port in use": {
			broker.Options{Config: load(t, "--health-addr", "off", "--listeners", "PLAINTEXT://"+free+",OTHER://"+taken,
				"--override", "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,OTHER:PLAINTEXT")}, taken,
		},
		"health port in use": {broker.Options{Config: load(t, "--health-addr", taken, "--listeners", "PLAINTEXT://"+free)}, taken},
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
			again, err := net.Listen("tcp", free)
			if err != nil {
				t.Fatalf("the first listener's port is still taken: %v", err)
			}
			_ = again.Close()
			check()
		})
	}
}

// freeAddress is one that nobody listens on now.
func freeAddress(t *testing.T) string {
	t.Helper()
	probe, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer probe.Close()
	return probe.Addr().String()
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
