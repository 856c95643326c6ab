package metastore

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/google/uuid"

	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
	storage "github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/topicdir"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

const (
	stateVersion = 1
	stateSuffix  = ".json"
	stateLimit   = 64 << 10
)

// state is the content of a state file, and of a deletion's note: what has durably been made of a topic.
type state struct {
	Version int       `json:"version"`
	Name    string    `json:"name"`
	ID      uuid.UUID `json:"topicId"`
	// Partitions is how many partitions have durable directories; 0 while the first are being made.
	Partitions int32 `json:"partitions"`
}

func (s state) dirs() topicdir.Topic {
	return topicdir.Topic{Name: s.Name, ID: s.ID, Partitions: s.Partitions}
}

func (r *record) served() bool { return r.Partitions > 0 && !r.deleting }

func stateFile(topic string) string { return ObjectName(topic) + stateSuffix }

// loadStates reads what topics there are. Which overrides they had last is read from their directories.
func (s *Store) loadStates() error {
	return eachStateFile(s.states, func(name string, st state) error {
		if stateFile(st.Name) != name {
			return fmt.Errorf("topic state %s/%s is of topic %q, which belongs into another file", s.states.Path(), name, st.Name)
		}
		r := &record{state: st, recorded: true}
		if _, decided := s.deleting[st.ID]; decided {
			r.deleting = true
		} else if err := s.loadOverrides(r); err != nil {
			return err
		}
		s.remember(r)
		return nil
	})
}

// loadOverrides tolerates everything but a future version: the manifest, if there is one, says the same and is written there again.
func (s *Store) loadOverrides(r *record) error {
	overrides, err := topicdir.ReadConfig(s.options.Volume, r.dirs())
	switch {
	case errors.Is(err, storage.ErrFutureVersion):
		return err
	case err == nil:
		r.overrides, r.configSet = overrides, true
	case !errors.Is(err, fs.ErrNotExist):
		s.options.Logger.Warn().Err(err).Str("topic", r.Name).Msg("topic configuration could not be read")
	}
	return nil
}

// writeState makes the state durable and then the record's.
//
// Atomic? Yes, a rename. Idempotent? Yes. One writer? The process that holds the cluster directory's claim; a late one
// could only record fewer partitions, which are then found again. Name as identity? The id is in the content.
func (s *Store) writeState(r *record, st state) error {
	if err := writeStateFile(s.states, stateFile(st.Name), st); err != nil {
		return fmt.Errorf("record state of topic %s: %w", st.Name, err)
	}
	r.state, r.recorded = st, true
	return nil
}

func writeStateFile(dir vfs.Dir, name string, st state) error {
	st.Version = stateVersion
	data, err := json.Marshal(st)
	if err != nil {
		return fmt.Errorf("encode %s: %w", name, err)
	}
	return vfs.WriteFileAtomic(dir, name, append(data, '\n'))
}

// eachStateFile calls do for each file of a directory of states. An unreadable one stops it: to go on without would be to
// make a topic of that name anew, beside its data.
func eachStateFile(dir vfs.Dir, do func(name string, st state) error) error {
	entries, err := dir.List()
	if err != nil {
		return fmt.Errorf("list %s: %w", dir.Path(), err)
	}
	for _, entry := range entries {
		if entry.IsDir || strings.HasPrefix(entry.Name, ".") || !strings.HasSuffix(entry.Name, stateSuffix) {
			continue
		}
		data, err := vfs.ReadFile(dir, entry.Name, stateLimit)
		if err != nil {
			return fmt.Errorf("read topic state: %w", err)
		}
		st, err := parseState(dir.Path(), entry.Name, data)
		if err != nil {
			return err
		}
		if err := do(entry.Name, st); err != nil {
			return err
		}
	}
	return nil
}

func parseState(path, name string, data []byte) (state, error) {
	var st state
	if err := json.Unmarshal(data, &st); err != nil {
		return st, &storage.CorruptionError{Dir: path, File: name, Offset: -1, Cause: err.Error()}
	}
	if st.Version > stateVersion {
		return st, fmt.Errorf("%s/%s has version %d, this software knows up to %d: %w",
			path, name, st.Version, stateVersion, storage.ErrFutureVersion)
	}
	if st.Version < 1 || st.Partitions < 0 || reservedID(st.ID) || catalog.ValidateName(st.Name) != nil {
		return st, &storage.CorruptionError{Dir: path, File: name, Offset: -1, Cause: "a field is missing or out of range"}
	}
	return st, nil
}

// metadataID is the topic id of Kafka's metadata log (Uuid.METADATA_TOPIC_ID).
var metadataID = uuid.UUID{15: 1}

// reservedID: the zero id means "no id" on the wire, and the metadata log's belongs to it.
func reservedID(id uuid.UUID) bool { return id == uuid.Nil || id == metadataID }

// newTopicID makes an id whose base64 text, by which tools know it, does not begin with a dash (Uuid.randomUuid).
func newTopicID() (uuid.UUID, error) {
	for {
		id, err := uuid.NewRandom()
		if err != nil {
			return id, fmt.Errorf("make a topic id: %w", err)
		}
		if !reservedID(id) && !strings.HasPrefix(base64.RawURLEncoding.EncodeToString(id[:]), "-") {
			return id, nil
		}
	}
}
