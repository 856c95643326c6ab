package storagetest

import (
	"context"

	"github.com/kaas-rs/kaas/kaas-storage"
)

func verificationTests() []test {
	return []test{
		{name: "a verification is void after a marker", run: func(s *scene) {
			p := s.take()
			data(1, 0, 0, 1)(s, p)
			verified, open := p.Verify(1, 0)
			if !open {
				s.Fatal("no transaction is open")
			}
			ends(1, 0, true)(s, p)
			s.want(s.tryVerified(p, verified, 1, 0, 1), storage.ErrInvalidTransaction)
			verified, open = p.Verify(1, 0)
			if open {
				s.Fatal("a transaction is open")
			}
			s.ok(s.tryVerified(p, verified, 1, 0, 1))
		}},
		{name: "a verification stands after a marker of another producer", run: func(s *scene) {
			p := s.take()
			verified, _ := p.Verify(1, 0)
			ends(2, 0, true)(s, p)
			s.ok(s.tryVerified(p, verified, 1, 0, 0))
		}},
		{name: "a verification is void after a marker of an unknown producer", run: func(s *scene) {
			p := s.take()
			verified, _ := p.Verify(1, 0)
			ends(1, 0, true)(s, p)
			s.want(s.tryVerified(p, verified, 1, 0, 0), storage.ErrInvalidTransaction)
		}},
		{name: "a verification of another epoch, producer or partition", run: func(s *scene) {
			p := s.take()
			verified, _ := p.Verify(1, 0)
			s.want(s.tryVerified(p, verified, 1, 1, 0), storage.ErrInvalidTransaction)
			s.want(s.tryVerified(p, verified, 2, 0, 0), storage.ErrInvalidTransaction)
			p = s.handedOver(p)
			s.want(s.tryVerified(p, verified, 1, 0, 0), storage.ErrInvalidTransaction)
		}},
		{name: "a batch that could not be verified comes first", run: func(s *scene) {
			p := s.take()
			verified, _ := p.Verify(1, 0)
			p.NotVerified(Transactional(s, 1, 0, 4, 2))
			p.NotVerified(Transactional(s, 1, 0, 6, 1))
			s.want(s.tryVerified(p, verified, 1, 0, 6), storage.ErrOutOfOrderSequence)
			s.want(s.tryVerified(p, storage.Verification{}, 1, 0, 4), storage.ErrInvalidTransaction)
			other, _ := p.Verify(2, 0)
			s.ok(s.tryVerified(p, other, 2, 0, 7))
		}},
		{name: "a batch that could not be verified comes again", run: func(s *scene) {
			p := s.take()
			verified, _ := p.Verify(1, 0)
			p.NotVerified(Transactional(s, 1, 0, 5, 1))
			p.NotVerified(Transactional(s, 1, 0, 4, 1))
			s.want(s.tryVerified(p, verified, 1, 0, 5), storage.ErrOutOfOrderSequence)
			s.ok(s.tryVerified(p, verified, 1, 0, 4))
			s.ok(s.tryVerified(p, verified, 1, 0, 5))
		}},
		{name: "a batch that could not be verified, and then another epoch", run: func(s *scene) {
			p := s.take()
			p.NotVerified(Transactional(s, 1, 0, 4, 1))
			verified, _ := p.Verify(1, 1)
			s.ok(s.tryVerified(p, verified, 1, 1, 8))
			p.NotVerified(Transactional(s, 2, 1, 4, 1))
			p.NotVerified(Transactional(s, 2, 0, 1, 1))
			verified, _ = p.Verify(2, 1)
			s.want(s.tryVerified(p, verified, 2, 1, 5), storage.ErrOutOfOrderSequence)
			ends(2, 1, false)(s, p)
			verified, _ = p.Verify(2, 1)
			s.ok(s.tryVerified(p, verified, 2, 1, 0))
		}},
		{name: "open means this epoch", run: func(s *scene) {
			p := s.take()
			data(1, 3, 0, 1)(s, p)
			for epoch := range int16(6) {
				if _, open := p.Verify(1, epoch); open != (epoch == 3) {
					s.Fatalf("epoch %d: open %t", epoch, open)
				}
			}
		}},
		{name: "verification switched off", run: func(s *scene) {
			s.config.VerifyTransactions = false
			p := s.take()
			s.ok(tryAppend(p, Transactional(s, 1, 0, 0, 1)))
			s.want(tryAppend(p, Sequenced(s, 1, 0, 1, 1)), storage.ErrInvalidTransaction)
			s.ok(p.Handover(context.Background()))
		}},
	}
}

func (s *scene) tryVerified(p *storage.Partition, v storage.Verification, id int64, epoch int16, sequence int32) error {
	s.Helper()
	return tryAppendWith(p, Transactional(s, id, epoch, sequence, 1), storage.AppendOptions{Verified: v})
}
