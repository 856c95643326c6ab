package storage_test

import (
	"context"
	"fmt"
	"os"

	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

func ExampleOpenLog_disk() {
	root, err := os.MkdirTemp("", "orders")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(root)
	disk, err := vfs.OS(root)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer disk.Close()
	ctx := context.Background()
	for range 3 { // three runs of a program
		log, err := storage.OpenLog(ctx, disk, "orders")
		if err != nil {
			fmt.Println(err)
			return
		}
		offset, err := log.Append(ctx, storage.Record{Value: []byte("an apple")})
		fmt.Println(offset, err)
		if err := log.Close(ctx); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// 0 <nil>
	// 1 <nil>
	// 2 <nil>
}
