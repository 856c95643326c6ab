package storagetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// scene is an engine over the file system under test, with a prepared partition directory "p". Its methods end the test on an unexpected error.
type scene struct {
	*testing.T
	fs     vfs.FS
	engine *storage.Engine
	config storage.Config
}

func newScene(t *testing.T, filesystem vfs.FS) *scene {
	t.Helper()
	s := &scene{T: t, fs: filesystem, config: storage.DefaultConfig()}
	t.Cleanup(func() {
		if err := filesystem.Close(); err != nil {
			t.Errorf("close the file system: %v", err)
		}
	})
	s.engine = s.newEngine()
	s.ok(filesystem.MkdirAll("p"))
	dir := s.openDir("p")
	defer dir.Close()
	s.ok(storage.InitPartition(dir, 0))
	return s
}

// newEngine is another process, as far as the directory can tell.
func (s *scene) newEngine() *storage.Engine {
	s.Helper()
	engine, err := storage.NewEngine(storage.Options{RetentionInterval: time.Minute})
	s.ok(err)
	s.Cleanup(func() {
		if err := engine.Close(); err != nil {
			s.Errorf("close the engine: %v", err)
		}
	})
	return engine
}

func (s *scene) ok(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *scene) want(err, target error) {
	s.Helper()
	if !errors.Is(err, target) {
		s.Fatalf("error is %v, want %v", err, target)
	}
}

func (s *scene) openDir(path string) vfs.Dir {
	s.Helper()
	dir, err := s.fs.OpenDir(path)
	s.ok(err)
	return dir
}

// take makes the scene's engine the owner of the partition.
func (s *scene) take() *storage.Partition {
	s.Helper()
	return s.takeBy(s.engine)
}

func (s *scene) takeBy(engine *storage.Engine) *storage.Partition {
	s.Helper()
	p, err := s.tryTake(engine)
	s.ok(err)
	return p
}

func (s *scene) tryTake(engine *storage.Engine) (*storage.Partition, error) {
	s.Helper()
	return engine.Take(context.Background(), s.openDir("p"), storage.TakeOptions{Label: "p", Config: s.config})
}

// again ends a leadership without a word and begins the next.
func (s *scene) again(p *storage.Partition) *storage.Partition {
	s.Helper()
	p.Abandon()
	<-p.Closed()
	return s.take()
}

// handedOver ends a leadership in good order and begins the next.
func (s *scene) handedOver(p *storage.Partition) *storage.Partition {
	s.Helper()
	s.ok(p.Handover(context.Background()))
	<-p.Closed()
	return s.take()
}

func (s *scene) append(p *storage.Partition, tag string, n int) storage.AppendResult {
	s.Helper()
	return Append(s, p, Records(s, tag, n, 1000))
}

// holds checks all values from an offset on.
func (s *scene) holds(p *storage.Partition, from int64, want ...string) {
	s.Helper()
	if got := Values(s, p, from); fmt.Sprint(got) != fmt.Sprint(want) {
		s.Fatalf("from offset %d on: %v, want %v", from, got, want)
	}
}

// bounds checks the log start and the end, which the watermark has reached.
func (s *scene) bounds(p *storage.Partition, start, end int64) {
	s.Helper()
	if got, want := p.Offsets(), (storage.Offsets{LogStart: start, LastStable: end, HighWatermark: end, LogEnd: end}); got != want {
		s.Fatalf("offsets are %+v, want %+v", got, want)
	}
}

// logs are the names of the log files.
func (s *scene) logs() []string {
	s.Helper()
	dir := s.openDir("p")
	defer dir.Close()
	entries, err := dir.List()
	s.ok(err)
	var names []string
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name, ".log") {
			names = append(names, entry.Name)
		}
	}
	return names
}

// pass lets one retention pass run, on the virtual clock.
func (s *scene) pass() {
	time.Sleep(time.Minute + time.Second)
	synctest.Wait()
}
