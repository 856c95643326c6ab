// Package topicdir lays out the directories of topics on a volume and carries each from its creation to its end.
//
//	<escaped topic>/<topic id>/.config.json    the topic's configuration
//	<escaped topic>/<topic id>/<partition>/    what the log engine keeps
//
// The id is part of the path so that whoever still works on an earlier topic of the same name cannot touch the present one.
// The package does not decide which topics there are: the caller does (a local metadata store, an operator), records the number of
// partitions after Create, and never has one below that number created again.
//
// All functions may be called again after an error or a crash, by anybody, and finish what was begun. Names that are not ours
// (lost+found, .snapshot, .nfs and the like) are left alone.
package topicdir
