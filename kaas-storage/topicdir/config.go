package topicdir

import (
	"encoding/json"
	"fmt"

	storage "github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

const (
	configName    = ".config.json"
	configVersion = 1
	configLimit   = 1 << 20
)

// configFile is the content of .config.json.
type configFile struct {
	Version int `json:"version"`
	// Config has Kafka's dotted names; what is not in it has its default.
	Config map[string]string `json:"config"`
}

// WriteConfig stores the configurations set on a topic, by Kafka's dotted names, in place of all earlier ones.
//
// Atomic? Yes, a rename. Idempotent? Yes. One writer? The caller sees to that (the owner of the metadata); a late writer is
// repaired by the rightful one's next comparison. Name as identity? The topic's id is in the path.
func WriteConfig(v *storage.Volume, t Topic, config map[string]string) error {
	if config == nil {
		config = map[string]string{}
	}
	data, err := json.Marshal(configFile{Version: configVersion, Config: config})
	if err != nil {
		return fmt.Errorf("encode configuration of topic %s: %w", t.Name, err)
	}
	dir, err := v.FS().OpenDir(t.path())
	if err != nil {
		return fmt.Errorf("write configuration of topic %s: %w", t.Name, err)
	}
	defer func() { _ = dir.Close() }()
	if err := vfs.WriteFileAtomic(dir, configName, append(data, '\n')); err != nil {
		return fmt.Errorf("write configuration of topic %s: %w", t.Name, err)
	}
	return nil
}

// ReadConfig returns the configurations set on a topic. The error wraps fs.ErrNotExist when none were ever written,
// storage.ErrFutureVersion, or a *storage.CorruptionError.
func ReadConfig(v *storage.Volume, t Topic) (map[string]string, error) {
	dir, err := v.FS().OpenDir(t.path())
	if err != nil {
		return nil, fmt.Errorf("read configuration of topic %s: %w", t.Name, err)
	}
	defer func() { _ = dir.Close() }()
	data, err := vfs.ReadFile(dir, configName, configLimit)
	if err != nil {
		return nil, fmt.Errorf("read configuration of topic %s: %w", t.Name, err)
	}
	config, err := parseConfig(dir.Path(), data)
	if err != nil {
		return nil, fmt.Errorf("read configuration of topic %s: %w", t.Name, err)
	}
	return config, nil
}

func parseConfig(path string, data []byte) (map[string]string, error) {
	var file configFile
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, &storage.CorruptionError{Dir: path, File: configName, Offset: -1, Cause: err.Error()}
	}
	if file.Version > configVersion {
		return nil, fmt.Errorf("%s/%s has version %d, this software knows up to %d: %w",
			path, configName, file.Version, configVersion, storage.ErrFutureVersion)
	}
	if file.Version < 1 {
		return nil, &storage.CorruptionError{Dir: path, File: configName, Offset: -1, Cause: "no version"}
	}
	if file.Config == nil {
		file.Config = map[string]string{}
	}
	return file.Config, nil
}
