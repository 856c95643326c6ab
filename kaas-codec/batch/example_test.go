package batch_test

import (
	"errors"
	"fmt"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

func Example() {
	builder := batch.NewBuilder()
	builder.Compression = batch.Zstd
	builder.Add(1700000000000, []byte("user-1"), []byte("hello"))
	builder.Add(1700000000005, []byte("user-2"), nil)
	built, err := builder.Build()
	if err != nil {
		fmt.Println(err)
		return
	}
	accepted, err := batch.Validate(built, batch.DefaultRules(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	accepted.SetBaseOffset(42)
	for record, err := range accepted.Records(nil, batch.SiteTool, 0) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(accepted.BaseOffset()+int64(record.OffsetDelta), string(record.Key), record.Value == nil)
	}
	// Output:
	// 42 user-1 false
	// 43 user-2 true
}

func ExampleValidate_rejected() {
	builder := batch.NewBuilder()
	builder.Add(1700000000000, nil, []byte("no key"))
	built, err := builder.Build()
	if err != nil {
		fmt.Println(err)
		return
	}
	rules := batch.DefaultRules()
	rules.Compacted = true
	_, err = batch.Validate(built, rules, nil)
	var rejected *batch.RejectedError
	if errors.As(err, &rejected) {
		fmt.Println(errors.Is(err, batch.ErrInvalidRecord), rejected.Records)
	}
	// Output: true [{0 a compacted topic takes no record without key}]
}
