package clusterdir

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// numberFormat writes numbers as names of fixed width, so that names sort as their numbers do.
type numberFormat struct {
	prefix string
	width  int
	base   int
	max    int64
}

var (
	claimFormat = numberFormat{prefix: "leader.", width: 8, base: 16, max: maxEpoch}
	epochFormat = numberFormat{width: 8, base: 16, max: maxEpoch}
	blockFormat = numberFormat{width: 16, base: 10, max: maxBlock}
)

func (f numberFormat) name(n int64) string {
	digits := strconv.FormatInt(n, f.base)
	for len(digits) < f.width {
		digits = "0" + digits
	}
	return f.prefix + digits
}

// parse accepts exactly what name writes: anything else in the directory is somebody else's.
func (f numberFormat) parse(name string) (int64, bool) {
	if len(name) != len(f.prefix)+f.width || name[:len(f.prefix)] != f.prefix {
		return 0, false
	}
	n, err := strconv.ParseInt(name[len(f.prefix):], f.base, 64)
	if err != nil || n < 0 || n > f.max || f.name(n) != name {
		return 0, false
	}
	return n, true
}

// keepBelow is how many names below the highest survive a trim. A listing is not a snapshot: while names are made and removed
// during it, it may miss a removed one and the new one alike. It cannot miss so many at once.
const keepBelow = 4

// numbers is a directory whose entries are numbers that were taken.
type numbers struct {
	dir    vfs.Dir
	format numberFormat
}

// list returns the numbers taken, ascending.
func (n numbers) list() ([]int64, error) {
	entries, err := n.dir.List()
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", n.dir.Path(), err)
	}
	var taken []int64
	for _, entry := range entries {
		if number, ok := n.format.parse(entry.Name); ok && entry.IsDir {
			taken = append(taken, number)
		}
	}
	return taken, nil
}

// highest returns the highest number taken, -1 if there is none.
func (n numbers) highest() (int64, error) {
	taken, err := n.list()
	if err != nil || len(taken) == 0 {
		return -1, err
	}
	return taken[len(taken)-1], nil
}

// takeNext takes a number that nobody has ever taken. It is durable when takeNext returns.
//
// Atomic? Yes: making the directory is the taking. Idempotent? A number whose taker died is lost, never given twice. One writer?
// Any number of them. Name as identity? The name is the number.
func (n numbers) takeNext() (int64, error) {
	for {
		highest, err := n.highest()
		if err != nil {
			return 0, err
		}
		number := highest + 1
		if number > n.format.max {
			return 0, ErrExhausted
		}
		if err := n.dir.Mkdir(n.format.name(number)); errors.Is(err, fs.ErrExist) {
			continue
		} else if err != nil {
			return 0, fmt.Errorf("take a number: %w", err)
		}
		// Between the listing and the making, others may have taken this number and higher ones and trimmed this one: then
		// the name was free although the number was not. A higher name tells, because the highest is never removed.
		seen, err := n.highest()
		if err != nil {
			return 0, err
		}
		if seen > number {
			continue
		}
		if err := n.dir.Sync(); err != nil {
			return 0, fmt.Errorf("sync a taken number: %w", err)
		}
		return number, nil
	}
}

// raise makes number one of those taken, durably.
func (n numbers) raise(number int64) error {
	err := n.dir.Mkdir(n.format.name(number))
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("raise a number: %w", err)
	}
	// Also when it was there: whoever made it may not have come to syncing it.
	if err := n.dir.Sync(); err != nil {
		return fmt.Errorf("sync a raised number: %w", err)
	}
	return nil
}

// trim removes names far below one that is known to be durable. What cannot be removed now is removed another time.
func (n numbers) trim(durable int64) error {
	taken, err := n.list()
	if err != nil {
		return err
	}
	below := taken[:0]
	for _, number := range taken {
		if number < durable {
			below = append(below, number)
		}
	}
	for len(below) > keepBelow {
		err := n.dir.Rmdir(n.format.name(below[0]))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("trim %s: %w", n.dir.Path(), err)
		}
		below = below[1:]
	}
	return nil
}
