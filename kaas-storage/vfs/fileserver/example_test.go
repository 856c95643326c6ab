package fileserver_test

import (
	"errors"
	"fmt"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
	"github.com/kaas-rs/kaas/kaas-storage/vfs/fileserver"
)

func Example() {
	server := fileserver.New(fileserver.Policy{})
	holder, _ := server.Client("one").Process("holder").OpenDir(".")
	taker, _ := server.Client("two").Process("taker").OpenDir(".")
	_ = holder.Mkdir("claim")
	claim, _ := holder.Hold("claim")
	fmt.Println("held:", claim.Check() == nil)
	_ = taker.Rmdir("claim")
	fmt.Println("fenced:", errors.Is(claim.Check(), vfs.ErrUnlinked))
	// Output:
	// held: true
	// fenced: true
}
