// Package ownership keeps this broker's partitions open, those of topics and those of the coordinator's slots: it follows the catalog, takes over
// what is new or was lost, some at a time and those that requests wait for first, tries again what failed, and hands everything over at the end.
//
// It decides nothing about who should lead: in the modes of one broker that is always this one. Safety does not depend on it either: the claims of
// the log engine fence, whatever is believed here.
//
// Life cycle: New, Run until its context ends, Shutdown or Close. A Manager is safe for concurrent use.
package ownership
