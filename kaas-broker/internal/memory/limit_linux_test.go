package memory

import (
	"testing"
	"testing/fstest"
)

func TestGroupLimit(t *testing.T) {
	files := func(pairs ...string) fstest.MapFS {
		root := fstest.MapFS{}
		for i := 0; i < len(pairs); i += 2 {
			root[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
		}
		return root
	}
	for name, c := range map[string]struct {
		root fstest.MapFS
		want int64
	}{
		"nothing":      {files(), 0},
		"none set":     {files("proc/self/cgroup", "0::/a\n", "sys/fs/cgroup/a/memory.max", "max\n"), 0},
		"version 2":    {files("proc/self/cgroup", "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max", "1000\n"), 1000},
		"one above it": {files("proc/self/cgroup", "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max", "max\n", "sys/fs/cgroup/a/memory.max", "900\n"), 900},
		"in a container": {
			files("proc/self/cgroup", "0::/host/only\n", "sys/fs/cgroup/memory.max", "800\n"), 800,
		},
		"version 1": {
			files("proc/self/cgroup", "9:cpu:/x\n4:memory:/x\n0::/\n", "sys/fs/cgroup/memory/x/memory.limit_in_bytes", "700\n", "sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"), 700,
		},
		"version 1, none set": {
			files("proc/self/cgroup", "4:hugetlb,memory:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"), 0,
		},
		"nonsense": {files("proc/self/cgroup", "x\n0::/\n:\n", "sys/fs/cgroup/memory.max", "-5\n"), 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := groupLimit(c.root); got != c.want {
				t.Errorf("limit %d, want %d", got, c.want)
			}
		})
	}
}

func TestLimitOfThisMachine(t *testing.T) {
	if limit := Limit(); limit < 16<<20 {
		t.Errorf("limit %d", limit)
	}
}
