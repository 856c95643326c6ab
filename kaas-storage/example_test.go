package storage_test

import (
	"context"
	"fmt"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

func ExampleOpenLog() {
	ctx := context.Background()
	log, err := storage.OpenLog(ctx, vfs.NewMem(64<<20), "orders")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer log.Close(ctx)
	first, err := log.Append(ctx, storage.Record{Key: []byte("42"), Value: []byte("two apples")}, storage.Record{Value: []byte("a pear")})
	if err != nil {
		fmt.Println(err)
		return
	}
	for record, err := range log.Read(first) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%d %s: %s\n", record.Offset, record.Key, record.Value)
	}
	// Output:
	// 0 42: two apples
	// 1 : a pear
}

func ExampleLog_Follow() {
	ctx := context.Background()
	log, err := storage.OpenLog(ctx, vfs.NewMem(64<<20), "orders")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer log.Close(ctx)
	go func() {
		for _, value := range []string{"one", "two", "three"} {
			if _, err := log.Append(ctx, storage.Record{Value: []byte(value)}); err != nil {
				return
			}
		}
	}()
	for record, err := range log.Follow(ctx, 0) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(record.Offset, string(record.Value))
		if record.Offset == 2 {
			break
		}
	}
	// Output:
	// 0 one
	// 1 two
	// 2 three
}

// A partition as a broker uses it: batches as they came from a client, several in flight, and one wait.
func ExampleEngine() {
	ctx := context.Background()
	disk := vfs.NewMem(64 << 20)
	engine, err := storage.NewEngine(storage.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close()
	if err := disk.MkdirAll("orders/0"); err != nil {
		fmt.Println(err)
		return
	}
	dir, err := disk.OpenDir("orders/0")
	if err == nil {
		err = storage.InitPartition(dir, 0)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	partition, err := engine.Take(ctx, dir, storage.TakeOptions{Label: "orders-0", Config: storage.DefaultConfig()})
	if err != nil {
		fmt.Println(err)
		return
	}
	var last storage.Ticket
	for i := range 3 {
		builder := batch.NewBuilder()
		builder.Add(int64(i), nil, []byte("value"))
		b, err := builder.Build()
		if err == nil {
			last, err = partition.Append(b, storage.AppendOptions{})
		}
		if err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Println("durable:", last.WaitDurable(ctx) == nil, "watermark:", partition.Offsets().HighWatermark)
	// Output:
	// durable: true watermark: 3
}
