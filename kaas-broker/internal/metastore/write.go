package metastore

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/kaas-rs/kaas/kaas-k8s/api/v1alpha1"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// writeManifest puts the object into the named file, durably, and takes note of it as if it had been read.
//
// Atomic? Yes, a rename. Idempotent? Yes. One writer? The store and people: the store reads the file directly before, so that only a
// change made within these milliseconds is lost. Name as identity? The topic's name is in the content; the file's name is only where it lies.
func (s *Store) writeManifest(name string, object *v1alpha1.KafkaTopic) (*file, error) {
	data, err := formatManifest(object)
	if err != nil {
		return nil, err
	}
	if err := vfs.WriteFileAtomic(s.manifests, name, data); err != nil {
		return nil, fmt.Errorf("write manifest %s: %w", name, err)
	}
	delete(s.files, name)
	f := s.look(name)
	if f == nil {
		return nil, fmt.Errorf("write manifest %s: it vanished at once", name)
	}
	s.files[name] = f
	if f.err != nil {
		return nil, fmt.Errorf("read back manifest %s: %w", name, f.err)
	}
	return f, nil
}

// freeName is a file name for a new topic's manifest that no other manifest has.
func (s *Store) freeName(topic string) (string, error) {
	for _, object := range []string{ObjectName(topic), syntheticName(topic)} {
		name := object + manifestSuffix
		if _, err := s.manifests.Stat(name); errors.Is(err, fs.ErrNotExist) {
			return name, nil
		} else if err != nil {
			return "", fmt.Errorf("look for manifest %s: %w", name, err)
		}
	}
	return "", fmt.Errorf("%w: %s.yaml belongs to something else", ErrManifest, ObjectName(topic))
}

// editable returns the topic's manifest as it is at this moment, to be changed and written to the returned file. If the manifest has
// vanished it is made from what is known of the topic.
func (s *Store) editable(r *record) (name string, object *v1alpha1.KafkaTopic, err error) {
	if err := s.scan(); err != nil {
		return "", nil, err
	}
	f := s.bind(func(Problem) {})[r.Name]
	switch {
	case f == nil:
		object = blankManifest(r.Name)
		object.Spec.Partitions = r.Partitions
		setConfig(object, r.overrides)
		name, err = s.freeName(r.Name)
		return name, object, err
	case f.manifest == nil:
		return "", nil, fmt.Errorf("%w: %s: %w", ErrManifest, f.name, f.err)
	}
	return f.name, f.manifest.object.DeepCopy(), nil
}

// writeStatus fills in the status of a manifest that the store wrote. The topic is there whether that succeeds or not.
func (s *Store) writeStatus(name string, r *record) {
	f := s.files[name]
	if f == nil || f.manifest == nil {
		return
	}
	object := f.manifest.object.DeepCopy()
	setStatus(object, r, time.Now())
	if _, err := s.writeManifest(name, object); err != nil {
		s.options.Logger.Warn().Err(err).Str("topic", r.Name).Msg("status could not be written into the manifest")
	}
}
