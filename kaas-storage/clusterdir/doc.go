// Package clusterdir owns the cluster directory: what a cluster keeps once, beside its topics' data.
//
//	cluster.json            format version and cluster id, made once and never changed
//	leader.<epoch>/         claim of the process that runs on this directory (single mode)
//	epoch_floor/<epoch>/    no partition's leader epoch begins below the highest of these
//	producer_ids/<block>/   blocks of 1,000 producer ids that were given away
//
// It does not know what else lies there: topics' manifests belong to the broker's metadata store, coordinator slots to the log engine.
//
// Numbers that may only grow are names, not contents: a number is raised by making a directory of that name, which is one
// atomic step and needs no reading before writing. The highest name is never removed, so it can neither be lost nor go back, whoever
// else is at work and whenever a process dies.
//
// A Dir is safe for concurrent use. Open it, Claim it in single mode, run Watch beside whatever serves from it, and Close it last.
package clusterdir
