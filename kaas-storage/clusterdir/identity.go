package clusterdir

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/google/uuid"

	storage "github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// IdentityName is the file that every cluster directory has, and no partition: what tells one, whose claims look like a partition's.
const IdentityName = "cluster.json"

const (
	identityVersion = 1
	identityLimit   = 64 << 10
)

// How long a file without content is taken for one that its maker is about to fill, before it is taken for the leftover of a crash.
const (
	identityPatience = 2 * time.Second
	identityPause    = 50 * time.Millisecond
)

// identity is the content of cluster.json.
type identity struct {
	Version   int    `json:"version"`
	ClusterID string `json:"clusterId"`
}

// clusterIdentity returns the directory's cluster id and makes one (wanted, if not empty) when there is none.
//
// Atomic? The exclusive creation of the file decides who makes the id. Idempotent? Yes, an existing id is only read; an empty file,
// which only a crash during the very first start leaves, is replaced. One writer? The creator; everybody returns what the name
// holds afterwards, so a creator that was overtaken adopts the other's id. Name as identity? The file's content is the identity.
func clusterIdentity(ctx context.Context, root vfs.Dir, wanted string) (string, error) {
	id, err := readIdentity(root)
	if errors.Is(err, fs.ErrNotExist) {
		id, err = createIdentity(root, wanted)
	}
	for waited := time.Duration(0); errors.Is(err, errUnfinished) && waited < identityPatience; waited += identityPause {
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(identityPause):
		}
		id, err = readIdentity(root)
	}
	if errors.Is(err, errUnfinished) {
		id, err = replaceIdentity(root, wanted)
	}
	if err != nil {
		return "", err
	}
	if wanted != "" && wanted != id {
		return "", fmt.Errorf("%w: it is %s, not %s", ErrForeignCluster, id, wanted)
	}
	// The name may be another process's that has not synced it yet.
	if err := root.Sync(); err != nil {
		return "", fmt.Errorf("sync the cluster id: %w", err)
	}
	return id, nil
}

// errUnfinished is an identity file that its maker has created and not (yet) filled.
var errUnfinished = errors.New("cluster id is not written yet")

func readIdentity(root vfs.Dir) (string, error) {
	data, err := vfs.ReadFile(root, IdentityName, identityLimit)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", IdentityName, err)
	}
	if len(data) == 0 || data[len(data)-1] != '\n' {
		return "", errUnfinished
	}
	return parseIdentity(data)
}

func parseIdentity(data []byte) (string, error) {
	var content identity
	if err := json.Unmarshal(data, &content); err != nil {
		return "", fmt.Errorf("%w: %s: %w", ErrFormat, IdentityName, err)
	}
	if content.Version > identityVersion {
		return "", fmt.Errorf("%s has format version %d, this software knows up to %d: %w",
			IdentityName, content.Version, identityVersion, storage.ErrFutureVersion)
	}
	if content.Version < 1 || !validClusterID(content.ClusterID) {
		return "", fmt.Errorf("%w: %s has version %d and cluster id %q", ErrFormat, IdentityName, content.Version, content.ClusterID)
	}
	return content.ClusterID, nil
}

func createIdentity(root vfs.Dir, wanted string) (string, error) {
	data, err := newIdentity(wanted)
	if err != nil {
		return "", err
	}
	file, err := root.Create(IdentityName)
	if errors.Is(err, fs.ErrExist) {
		return readIdentity(root)
	} else if err != nil {
		return "", fmt.Errorf("create %s: %w", IdentityName, err)
	}
	_, err = file.WriteAt(data, 0)
	if err == nil {
		err = file.Sync()
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = root.Sync()
	}
	if err != nil {
		return "", fmt.Errorf("write %s: %w", IdentityName, err)
	}
	return readIdentity(root)
}

func replaceIdentity(root vfs.Dir, wanted string) (string, error) {
	data, err := newIdentity(wanted)
	if err != nil {
		return "", err
	}
	if err := vfs.WriteFileAtomic(root, IdentityName, data); err != nil {
		return "", fmt.Errorf("replace unfinished %s: %w", IdentityName, err)
	}
	return readIdentity(root)
}

func newIdentity(wanted string) ([]byte, error) {
	if wanted == "" {
		var err error
		if wanted, err = newClusterID(); err != nil {
			return nil, err
		}
	} else if !validClusterID(wanted) {
		return nil, fmt.Errorf("%w: %q is no cluster id", ErrFormat, wanted)
	}
	data, err := json.Marshal(identity{Version: identityVersion, ClusterID: wanted})
	if err != nil {
		return nil, fmt.Errorf("encode the cluster id: %w", err)
	}
	return append(data, '\n'), nil
}

// newClusterID makes an id that does not begin with a dash, because tools would take it for a flag (Kafka's Uuid.randomUuid).
func newClusterID() (string, error) {
	for {
		random, err := uuid.NewRandom()
		if err != nil {
			return "", fmt.Errorf("make a cluster id: %w", err)
		}
		if id := base64.RawURLEncoding.EncodeToString(random[:]); !strings.HasPrefix(id, "-") {
			return id, nil
		}
	}
}

// validClusterID takes what an operator may have chosen by hand too: Kafka does not insist on a UUID either.
func validClusterID(id string) bool {
	if id == "" || len(id) > 128 {
		return false
	}
	for _, c := range []byte(id) {
		alphanumeric := c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !alphanumeric && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return true
}
