// Package metastore is the local store of topics in dev and single mode: who may create, grow, configure and delete them, and how that
// survives a crash.
//
// What it keeps in the cluster directory:
//
//	topics/<name>.yaml              KafkaTopic manifests: what topics there shall be. The authority; people may edit them.
//	topic_state/<name>.json         what has been made of them: topic id and number of partitions, in the order in which they became durable
//	topic_deletions/<topic id>.json topics whose deletion has been decided and is not finished
//
// and on the volume, through kaas-storage/topicdir, the topics' directories.
//
// # Rules
//
//   - A change is durable in the manifest first, then in the directories, then in the state, then it is published in the
//     catalog, then it is answered. A crash in between leaves a manifest ahead of the state, which the next pass completes.
//   - Only DeleteTopic deletes, and its first step is a note that makes the decision durable. A manifest that vanishes, cannot be
//     read or asks for fewer partitions changes nothing: the topic is served as before and Problems names the file and the reason.
//   - A partition below the recorded number is never made again: if its directory is gone, it was lost.
//   - The floor of leader epochs is raised above a topic's epochs before its name can be used again.
//
// # Life cycle
//
// Open finishes what a crash interrupted and publishes the topics; Run then watches the manifests and removes deleted topics'
// directories until its context ends; Close releases the handles. All methods may be called concurrently; changes are made one at a time.
package metastore
