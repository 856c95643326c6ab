package metastore

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	storage "github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/topicdir"
)

// repairsPerPass bounds the materialized configurations that one pass looks at: the topics take turns, so that many of them do not keep a file
// server busy, nor a client waiting for the lock.
const repairsPerPass = 256

// repair compares what the topics' directories say of their configuration with the manifests, which are the authority, and puts right what differs. It
// reads no more than repairsPerPass files.
func (s *Store) repair(report func(Problem)) {
	names := slices.Sorted(maps.Keys(s.records))
	first, _ := slices.BinarySearch(names, s.repairFrom)
	for i := range min(len(names), repairsPerPass) {
		name := names[(first+i)%len(names)]
		s.repairFrom = names[(first+i+1)%len(names)]
		r := s.records[name]
		if !r.served() || !r.configSet {
			continue
		}
		if err := s.repairConfig(r); err != nil {
			report(Problem{Topic: name, Reason: err.Error()})
		}
	}
}

// repairConfig leaves alone what later software has written, and what cannot be read now.
//
// Atomic? Writing is a rename. Idempotent? Yes. One writer? The holder of the cluster directory's claim. Name as identity? The topic's id is in the path.
func (s *Store) repairConfig(r *record) error {
	found, err := topicdir.ReadConfig(s.options.Volume, r.dirs())
	corrupt := (*storage.CorruptionError)(nil)
	switch {
	case err == nil && maps.Equal(found, r.overrides):
		return nil
	case err == nil, errors.As(err, &corrupt), errors.Is(err, fs.ErrNotExist):
	default:
		return err
	}
	if err := topicdir.WriteConfig(s.options.Volume, r.dirs(), r.overrides); err != nil {
		return fmt.Errorf("put right: %w", err)
	}
	s.options.Logger.Warn().Err(err).Str("topic", r.Name).Interface("found", found).Interface("restored", r.overrides).
		Msg("configuration in the topic's directory was not that of its manifest, which counts; it was written anew")
	return nil
}
