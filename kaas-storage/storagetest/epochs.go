package storagetest

import (
	"context"

	"github.com/kaas-rs/kaas/kaas-storage"
)

func epochTests() []test {
	return []test{
		{name: "none without records", run: func(s *scene) {
			p := s.again(s.take())
			s.epochs(p, map[storage.Epoch]epochEnd{-1: {-1, -1}, 0: {0, 0}, 1: {1, 0}, 2: {2, 0}, 3: {-1, -1}})
		}},
		{name: "over takeovers and deletions", run: manyEpochs},
	}
}

// epochEnd is an answer to OffsetForLeaderEpoch.
type epochEnd struct {
	epoch storage.Epoch
	end   int64
}

func (s *scene) epochs(p *storage.Partition, want map[storage.Epoch]epochEnd) {
	s.Helper()
	for asked, w := range want {
		if epoch, end := p.OffsetForLeaderEpoch(asked); (epochEnd{epoch, end}) != w {
			s.Errorf("epoch %d: (%d, %d), want (%d, %d)", asked, epoch, end, w.epoch, w.end)
		}
	}
}

func manyEpochs(s *scene) {
	p := s.again(s.take()) // epoch 2
	for _, n := range []int{3, 0, 2, 4, 0} {
		p = s.again(p)
		if n > 0 {
			s.append(p, "r", n)
		}
	}
	// Epoch 3 has 0-2, 4 none, 5 has 3-4, 6 has 5-8, 7 none.
	s.epochs(p, map[storage.Epoch]epochEnd{-1: {-1, -1}, 1: {1, 0}, 2: {2, 0}, 3: {3, 3}, 4: {3, 3}, 5: {5, 5}, 6: {6, 9}, 7: {7, 9}, 8: {-1, -1}})
	for offset, epoch := range map[int64]storage.Epoch{0: 3, 2: 3, 3: 5, 4: 5, 5: 6, 8: 6} {
		if got := p.EpochForOffset(offset); got != epoch {
			s.Errorf("offset %d is of epoch %d, want %d", offset, got, epoch)
		}
	}
	_, err := p.DeleteRecords(context.Background(), 4)
	s.ok(err)
	s.epochs(p, map[storage.Epoch]epochEnd{1: {1, 4}, 3: {3, 4}, 5: {5, 5}, 6: {6, 9}, 7: {7, 9}})
	p = s.handedOver(p) // epoch 8
	s.epochs(p, map[storage.Epoch]epochEnd{1: {1, 4}, 3: {3, 4}, 5: {5, 5}, 6: {6, 9}, 7: {6, 9}, 8: {8, 9}, 9: {-1, -1}})
	_, err = p.DeleteRecords(context.Background(), -1)
	s.ok(err)
	p = s.again(p)
	s.append(p, "r", 1)
	s.epochs(p, map[storage.Epoch]epochEnd{5: {5, 9}, 6: {6, 9}, 8: {6, 9}, 9: {9, 10}})
}
