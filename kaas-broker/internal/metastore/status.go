package metastore

import (
	"bytes"
	"reflect"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/kaas-rs/kaas/kaas-k8s/api/v1alpha1"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// refreshStatus puts the status of a manifest right that a person has edited: it still tells of the topic before the edit. A manifest without a status
// has never been written by a store, and stays as it is. Everything but the status stays as the person wrote it, comments included.
func (s *Store) refreshStatus(f *file, r *record) {
	present := f.manifest.object
	if reflect.ValueOf(present.Status).IsZero() {
		return
	}
	wanted := present.DeepCopy()
	setStatus(wanted, r, time.Now())
	if same(wanted.Status, present.Status) {
		return
	}
	if err := s.rewriteStatus(f, wanted); err != nil {
		s.options.Logger.Warn().Err(err).Str("topic", r.Name).Msg("status could not be written into the manifest")
	}
}

// rewriteStatus leaves a file alone that has changed since it was read: the next pass sees to it.
func (s *Store) rewriteStatus(f *file, wanted *v1alpha1.KafkaTopic) error {
	data, err := vfs.ReadFile(s.manifests, f.name, manifestLimit)
	if err != nil {
		return err
	}
	if now, err := parseManifest(data); err != nil || !same(now.object, f.manifest.object) {
		return nil //nolint:nilerr // it is reported when it is read for itself
	}
	edited, ok := replaceStatus(data, wanted)
	if !ok {
		_, err := s.writeManifest(f.name, wanted)
		return err
	}
	if err := vfs.WriteFileAtomic(s.manifests, f.name, edited); err != nil {
		return err
	}
	delete(s.files, f.name)
	if again := s.look(f.name); again != nil {
		s.files[f.name] = again
	}
	return nil
}

// replaceStatus exchanges the lines of the status at the end of a block, or in the middle of others. It fails where the result would not be what is
// wanted, as in a manifest that is written in one line.
func replaceStatus(data []byte, wanted *v1alpha1.KafkaTopic) (edited []byte, ok bool) {
	block, err := yaml.Marshal(map[string]v1alpha1.KafkaTopicStatus{"status": wanted.Status})
	if err != nil {
		return nil, false
	}
	inside, written := false, false
	for line := range bytes.Lines(data) {
		switch {
		case bytes.HasPrefix(line, []byte("status:")) && !written:
			edited = append(edited, block...)
			inside, written = true, true
		case inside && (line[0] == ' ' || line[0] == '-' || len(bytes.TrimSpace(line)) == 0):
		default:
			inside = false
			edited = append(edited, line...)
		}
	}
	result, err := parseManifest(edited)
	return edited, written && err == nil && same(result.object, wanted)
}

// same compares what would be written.
func same(a, b any) bool {
	one, err := yaml.Marshal(a)
	other, otherErr := yaml.Marshal(b)
	return err == nil && otherErr == nil && bytes.Equal(one, other)
}
