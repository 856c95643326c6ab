package topicdir

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/google/uuid"

	storage "github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// Topic is one incarnation of a topic.
type Topic struct {
	Name string
	// ID tells this topic from earlier and later ones of its name.
	ID uuid.UUID
	// Partitions is the number of partitions, numbered from 0.
	Partitions int32
}

func (t Topic) parent() string { return Escape(t.Name) }

func (t Topic) path() string { return t.parent() + "/" + t.ID.String() }

// OpenPartition opens the directory of a partition. It never makes one: a directory that is missing was lost.
func OpenPartition(v *storage.Volume, t Topic, partition int32) (vfs.Dir, error) {
	dir, err := v.FS().OpenDir(t.path() + "/" + partitionName(partition))
	if err != nil {
		return nil, fmt.Errorf("open partition %s-%d: %w", t.Name, partition, err)
	}
	return dir, nil
}

// Partitions is how many partitions the topic has directories for: one above the highest number, 0 if the topic has no directory.
// Some may be missing or unfinished; what a topic has by right is for its owner to record.
func Partitions(v *storage.Volume, t Topic) (int32, error) {
	dir, err := v.FS().OpenDir(t.path())
	if isMissing(err) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("count partitions of topic %s: %w", t.Name, err)
	}
	defer func() { _ = dir.Close() }()
	partitions, err := listPartitions(dir)
	if err != nil {
		return 0, fmt.Errorf("count partitions of topic %s: %w", t.Name, err)
	}
	var count int32
	for _, partition := range partitions {
		count = max(count, partition+1)
	}
	return count, nil
}

func partitionName(partition int32) string { return strconv.FormatInt(int64(partition), 10) }

// parsePartition accepts exactly what partitionName writes.
func parsePartition(name string) (int32, bool) {
	n, err := strconv.ParseInt(name, 10, 32)
	if err != nil || n < 0 || n == math.MaxInt32 || partitionName(int32(n)) != name {
		return 0, false
	}
	return int32(n), true
}

// reservedPrefix begins the names of what lies beside the topics: the cluster directory, unless it has a volume of its own.
const reservedPrefix = "__cluster"

const hexDigits = "0123456789ABCDEF"

// Escape turns any text into a file name: different texts into different names, none of which begins with a dot or with "__cluster",
// or is one that file systems and servers keep for themselves. Kafka's topic names stay as they are, except that a leading
// dot, and the first underscore of "__cluster…", become %2E and %5F; so the longest, of 249 characters, fits into the 255 of a file name.
func Escape(name string) string {
	if name == "" {
		return "%"
	}
	var out strings.Builder
	for i := range len(name) {
		c := name[i]
		first := i == 0 && (c == '.' || strings.HasPrefix(name, reservedPrefix))
		if plainByte(c) && !first {
			out.WriteByte(c)
			continue
		}
		out.WriteByte('%')
		out.WriteByte(hexDigits[c>>4])
		out.WriteByte(hexDigits[c&15])
	}
	return out.String()
}

func plainByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-'
}

// Unescape is the inverse of Escape; false for names that Escape never gives.
func Unescape(file string) (string, bool) {
	if file == "%" {
		return "", true
	}
	var out strings.Builder
	for i := 0; i < len(file); i++ {
		if file[i] != '%' {
			out.WriteByte(file[i])
			continue
		}
		if i+2 >= len(file) {
			return "", false
		}
		c, err := strconv.ParseUint(file[i+1:i+3], 16, 8)
		if err != nil {
			return "", false
		}
		out.WriteByte(byte(c))
		i += 2
	}
	name := out.String()
	return name, Escape(name) == file
}
