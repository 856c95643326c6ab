package memory

import (
	"bytes"
	"io/fs"
	"math"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Limit is what the machine has, or the lowest limit of the control groups that the process is in; in bytes, 0 when it is unknown.
func Limit() int64 {
	limit := GroupLimit()
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return limit
	}
	physical := int64(info.Totalram) * int64(info.Unit)
	if limit == 0 {
		return physical
	}
	return min(limit, physical)
}

// GroupLimit is the lowest memory limit, in bytes, of the process's control group and those above it; 0 when there is none.
func GroupLimit() int64 {
	return groupLimit(os.DirFS("/"))
}

// groupLimit looks below a root directory.
func groupLimit(root fs.FS) int64 {
	text, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return 0
	}
	lowest := int64(math.MaxInt64)
	for line := range strings.Lines(string(text)) {
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, group, found := strings.Cut(rest, ":")
		switch {
		case !found:
		case controllers == "":
			lowest = min(lowest, lowestFrom(root, "sys/fs/cgroup", group, "memory.max"))
		case strings.Contains(","+controllers+",", ",memory,"):
			lowest = min(lowest, lowestFrom(root, "sys/fs/cgroup/memory", group, "memory.limit_in_bytes"))
		}
	}
	if lowest >= unlimited {
		return 0
	}
	return lowest
}

// unlimited is above every limit that means something: version 1 writes the largest multiple of a page.
const unlimited = 1 << 60

// lowestFrom reads the limits of a group and of each above it. In a container the group's path is often one that only the host knows: then its root counts.
func lowestFrom(root fs.FS, mount, group, file string) int64 {
	lowest := int64(math.MaxInt64)
	for at := path.Join("/", group); ; at = path.Dir(at) {
		if text, err := fs.ReadFile(root, path.Join(mount, at, file)); err == nil {
			if limit, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64); err == nil && limit > 0 {
				lowest = min(lowest, limit)
			}
		}
		if at == "/" {
			return lowest
		}
	}
}
