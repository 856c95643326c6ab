package clusterdir_test

import (
	"context"
	"fmt"

	"github.com/kaas-rs/kaas/kaas-storage/clusterdir"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

func Example() {
	ctx := context.Background()
	d, err := clusterdir.Open(ctx, vfs.NewMem(0), clusterdir.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	if _, err := d.Claim(ctx); err != nil {
		fmt.Println(err)
		return
	}
	first, count, err := d.NextProducerBlock(ctx)
	fmt.Println(first, count, err)
	// Output: 0 1000 <nil>
}
