package storagetest

import (
	"context"
	"time"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage"
)

func ownerTests() []test {
	return []test{
		{name: "the second fences the first", run: func(s *scene) { fence(s, s.engine) }},
		{name: "the second fences the first, another process", run: func(s *scene) { fence(s, s.newEngine()) }},
		{name: "a fenced owner confirms nothing", run: func(s *scene) {
			first := s.take()
			s.ok(first.Confirm(context.Background(), time.Now()))
			second := s.takeBy(s.newEngine())
			s.want(first.Confirm(context.Background(), time.Now()), storage.ErrFenced)
			<-first.Done()
			s.want(first.Err(), storage.ErrFenced)
			s.ok(second.Confirm(context.Background(), time.Now()))
		}},
		{name: "a fenced owner deletes nothing", run: func(s *scene) {
			first := s.take()
			s.append(first, "a", 3)
			second := s.takeBy(s.newEngine())
			_, err := first.DeleteRecords(context.Background(), 2)
			s.want(err, storage.ErrFenced)
			s.bounds(second, 0, 3)
			s.holds(s.again(second), 0, "a-0", "a-1", "a-2")
		}},
		{name: "a fenced owner still reads", run: func(s *scene) {
			first := s.take()
			s.append(first, "a", 3)
			second := s.takeBy(s.newEngine())
			s.append(second, "b", 3)
			s.want(tryAppend(first, Records(s, "zombie", 1, 1)), storage.ErrFenced)
			s.holds(first, 0, "a-0", "a-1", "a-2")
		}},
		{name: "after a handover", run: func(s *scene) {
			first := s.take()
			s.append(first, "a", 3)
			s.ok(first.Handover(context.Background()))
			s.want(first.Err(), storage.ErrClosed)
			s.want(tryAppend(first, Records(s, "late", 1, 1)), storage.ErrClosed)
			second := s.takeBy(s.newEngine())
			s.append(second, "b", 1)
			s.holds(second, 0, "a-0", "a-1", "a-2", "b-0")
		}},
		{name: "a handover by a fenced owner", run: func(s *scene) {
			first := s.take()
			s.append(first, "a", 3)
			second := s.takeBy(s.newEngine())
			s.want(first.Handover(context.Background()), storage.ErrFenced)
			s.append(second, "b", 1)
			s.holds(second, 0, "a-0", "a-1", "a-2", "b-0")
		}},
	}
}

func tryAppend(p *storage.Partition, b batch.Batch) error {
	ticket, err := p.Append(b, storage.AppendOptions{})
	if err != nil {
		return err
	}
	return ticket.WaitDurable(context.Background())
}

func fence(s *scene, other *storage.Engine) {
	first := s.take()
	s.append(first, "a", 3)
	second := s.takeBy(other)
	if second.Epoch() <= first.Epoch() {
		s.Fatalf("epoch %d follows %d", second.Epoch(), first.Epoch())
	}
	s.want(tryAppend(first, Records(s, "zombie", 1, 2000)), storage.ErrFenced)
	if got := first.Offsets().HighWatermark; got != 3 {
		s.Fatalf("the watermark of a fenced owner moved to %d", got)
	}
	s.append(second, "b", 1)
	s.holds(second, 0, "a-0", "a-1", "a-2", "b-0")
	s.holds(s.again(second), 0, "a-0", "a-1", "a-2", "b-0")
}

func deletionTests() []test {
	return []test{
		{name: "nothing is left", run: func(s *scene) {
			p := s.take()
			s.append(p, "a", 3)
			s.destroy()
			if _, err := s.fs.OpenDir("p"); err == nil {
				s.Fatal("the directory is still there")
			}
			s.destroy() // once more is no error
		}},
		{name: "fences the owner", run: func(s *scene) {
			p := s.take()
			s.append(p, "a", 3)
			s.destroy()
			s.want(tryAppend(p, Records(s, "zombie", 1, 1)), storage.ErrFenced)
		}},
		{name: "begun and not finished", run: func(s *scene) {
			s.take().Abandon()
			s.ok(s.fs.MkdirAll("p/leader.ffffffff"))
			_, err := s.tryTake(s.engine)
			s.want(err, storage.ErrDeleted)
			s.destroy()
		}},
		{name: "the next of that name starts above", run: func(s *scene) {
			p := s.again(s.take())
			highest := p.Epoch()
			s.append(p, "a", 3)
			s.destroy()
			s.ok(s.fs.MkdirAll("p"))
			dir := s.openDir("p")
			s.ok(storage.InitPartition(dir, highest))
			s.ok(dir.Close())
			s.want(tryAppend(p, Records(s, "zombie", 1, 1)), storage.ErrFenced)
			next := s.take()
			if next.Epoch() <= highest {
				s.Fatalf("epoch %d follows %d", next.Epoch(), highest)
			}
			s.bounds(next, 0, 0)
		}},
	}
}

func (s *scene) destroy() {
	s.Helper()
	root := s.openDir(".")
	defer root.Close()
	s.ok(storage.DestroyPartition(context.Background(), root, "p"))
}
