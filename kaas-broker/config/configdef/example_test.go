package configdef_test

import (
	"fmt"

	"github.com/kaas-rs/kaas/kaas-broker/config/configdef"
)

func Example() {
	partitions := configdef.Definition{Name: "num.partitions", Type: configdef.TypeInt, Default: "1", Check: configdef.AtLeast(1)}
	value, err := partitions.Parse(" 6 ")
	fmt.Println(value.Int64(), err)
	_, err = partitions.Parse("0")
	fmt.Println(err)
	// Output:
	// 6 <nil>
	// Invalid value 0 for configuration num.partitions: Value must be at least 1
}
