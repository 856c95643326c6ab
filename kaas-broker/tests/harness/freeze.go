package harness

import (
	"syscall"
	"testing"
)

// Freeze stops the broker's process as it is, in whatever it is doing: a machine that hangs, a container that is paused.
func (b *Broker) Freeze(t testing.TB) {
	t.Helper()
	b.checkOpacity(t) // it may be killed, or leave by itself, before it can be asked again
	b.frozen.Store(true)
	b.send(t, syscall.SIGSTOP)
}

// Thaw lets a frozen broker go on.
func (b *Broker) Thaw(t testing.TB) {
	t.Helper()
	b.send(t, syscall.SIGCONT)
	b.frozen.Store(false)
}

func (b *Broker) send(t testing.TB, signal syscall.Signal) {
	t.Helper()
	k, is := b.process.(*kaas)
	if !is {
		t.Skip("freezes the process of kaas")
	}
	if err := k.command.Process.Signal(signal); err != nil {
		t.Errorf("%v: %v", signal, err)
	}
}
